package import Migration

/// Reads an export, and writes what it becomes (moving an app, 1).
package struct AppImportRun: Sendable {
    private let export: String
    private let output: String
    private let options: AppImportOptions
    /// Sources with the documents of custom user data.
    private let data: [String]

    package init(export: String, output: String, options: AppImportOptions, data: [String]) {
        self.export = export
        self.output = output
        self.options = options
        self.data = data
    }

    /// With a fatal finding the output directory stays as it is.
    package func run() throws(MigrationFailure) -> ImportedApp {
        let files = try ExportDirectory.read(export)
        let survey = try survey(files)
        let app = AppImport.run(files, options, customData: survey)
        guard !app.findings.isFatal else { return app }
        let directory = try OutputDirectory(output)
        for file in app.files {
            try directory.write(file.content.utf8, to: file.path, isProgram: file.isProgram)
        }
        let lines = ImportReportText.lines(app.findings).joined(separator: "\n") + "\n"
        try directory.write(lines.utf8, to: "report.txt")
        try directory.write(
            ImportReportText.json(app.findings, app: app.appID),
            to: "report.json"
        )
        return app
    }

    private func survey(_ files: ExportFiles) throws(MigrationFailure) -> CustomDataSurvey? {
        guard !data.isEmpty, let wanted = AppImport.surveyed(files, options) else { return nil }
        return try CustomDataSurveyor(
            database: wanted.database,
            collection: wanted.collection,
            partitionKey: wanted.partitionKey
        ).run(data)
    }
}
