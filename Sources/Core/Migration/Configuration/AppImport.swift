import BSON
import Changesets
import SchemaFiles
import Schemas

/// Turns an export of a hosted app into configuration, schema, map and stubs (moving an app, 1 to 5).
package struct AppImport {
    private let files: ExportFiles
    private let options: AppImportOptions
    private let survey: CustomDataSurvey?
    private var findings = ImportFindings()

    package static func run(
        _ files: ExportFiles,
        _ options: AppImportOptions,
        customData survey: CustomDataSurvey? = nil
    ) -> ImportedApp {
        var run = AppImport(files: files, options: options, survey: survey)
        return run.result()
    }

    /// The collection whose documents a survey is about, and the key of partitions; nil if the app has
    /// no custom user data.
    package static func surveyed(
        _ files: ExportFiles,
        _ options: AppImportOptions
    ) -> (database: String, collection: String, partitionKey: String?)? {
        var reader = ExportReader(files)
        guard let app = reader.read(), let data = CustomUserDataExport(app) else { return nil }
        let key = options.partitionKey ?? app.sync?.content["partition"]?["key"]?.text
        return (data.database, data.collection, key)
    }

    private init(files: ExportFiles, options: AppImportOptions, survey: CustomDataSurvey?) {
        self.files = files
        self.options = options
        self.survey = survey
    }

    private mutating func result() -> ImportedApp {
        var reader = ExportReader(files)
        let exported = reader.read()
        findings.add(reader.findings.all)
        guard let app = exported else {
            return ImportedApp(files: [], findings: findings, appID: nil)
        }
        let id = appID(of: app)
        let sync = SyncConversion.run(app, options)
        findings.add(sync.findings.all)
        let (converted, schemaFindings) = SchemaConversion.run(app, options)
        var schema = converted
        findings.add(schemaFindings.all)
        guard let settings = sync.settings else {
            return ImportedApp(files: [], findings: findings, appID: id)
        }
        let custom = CustomUserDataConversion.run(app, settings, survey, &schema, &findings)
        var configuration = AppConfigurationWriter(
            app: app,
            appID: id ?? "app",
            settings: settings,
            schema: schema,
            custom: custom,
            options: options
        )
        let text = configuration.text()
        findings.add(configuration.findings.all)
        noteWhatIsNotImported(app)
        addAdvice()
        if options.acceptsNarrower { findings.acceptNarrowerRules() }
        guard let id, !findings.isFatal else {
            return ImportedApp(files: [], findings: findings, appID: id)
        }
        let map = CollectionMap(
            app: id,
            partition: settings.partition,
            classes: schema.classes,
            closed: settings.partition == nil || !custom.isClosed
                ? [] : Set(custom.className.map { [Text($0)] } ?? [])
        )
        var outputs = [
            ImportedApp.File(path: "\(id).yaml", content: text, isProgram: false),
            ImportedApp.File(
                path: "schemas/\(id).yaml",
                content: SchemaFile.text(of: schema.declaration),
                isProgram: false
            ),
            ImportedApp.File(path: "\(id).map.yaml", content: map.text, isProgram: false),
        ]
        for (name, content) in configuration.stubs.sorted(by: { $0.key < $1.key }) {
            outputs.append(
                ImportedApp.File(path: "hooks/\(id)/\(name)", content: content, isProgram: true)
            )
        }
        return ImportedApp(files: outputs, findings: findings, appID: id)
    }

    private mutating func appID(of app: ExportedApp) -> String? {
        let id = options.appID ?? app.appID
        let isGood =
            id.map { id in
                !id.isEmpty && id.utf8.count <= 128
                    && id.utf8.allSatisfy { byte in
                        switch byte {
                        case 0x30...0x39, 0x41...0x5a, 0x61...0x7a, 0x5f, 0x2d: true
                        default: false
                        }
                    }
            } ?? false
        if isGood { return id }
        findings.add(
            ImportFinding(
                .fatal,
                "import.no_app_id",
                "",
                id == nil
                    ? "the export has no app id"
                    : "the app id has other characters than "
                        + "letters, digits, \"_\" and \"-\"",
                remedy: "give --app-id with the id that the apps were built with"
            )
        )
        return nil
    }

    // MARK: Notes

    private mutating func noteWhatIsNotImported(_ app: ExportedApp) {
        func count(_ folder: String) -> Int { files.jsonPaths(in: folder).count }
        var parts: [String] = []
        func note(_ text: String, _ count: Int) {
            if count > 0 { parts.append("\(text) (\(count))") }
        }
        note("triggers", count("triggers"))
        note("HTTP endpoints", count("http_endpoints"))
        note("GraphQL", count("graphql"))
        note("hosting", count("hosting"))
        note("log forwarders", count("log_forwarders"))
        note(
            "secret values",
            app.values.values.count { if case .secret = $0 { true } else { false } }
        )
        note("other services", app.otherServices.count)
        note("functions", app.functions.count)
        guard !parts.isEmpty else { return }
        findings.add(
            ImportFinding(
                .note,
                "import.not_imported",
                parts.joined(separator: ", "),
                "have no equivalent here",
                remedy: "replace those that the apps need"
            )
        )
    }

    private mutating func addAdvice() {
        findings.add(
            ImportFinding(
                .note,
                "import.advice",
                "",
                "existing installations start over with a client reset at their first contact",
                remedy: "ship the newest SDK with sync and its recover-or-discard reset, try one "
                    + "test device first, and keep sync paused until import verify is clean"
            )
        )
    }
}

extension ImportFindings {
    /// Codes of parts of rules that became narrower.
    private static let narrower: Set<String> = [
        "import.rule_unsupported", "import.rule_function", "import.rule_list",
        "import.rule_secret", "import.rule_unknown_value", "import.rule_document",
        "import.rule_syntax", "import.rule_exists", "import.rule_absent",
        "import.apply_when_unsupported",
    ]

    mutating func acceptNarrowerRules() {
        let findings = all.map { finding in
            var finding = finding
            if finding.severity == .error, Self.narrower.contains(finding.code) {
                finding.severity = .warning
            }
            return finding
        }
        self = ImportFindings()
        add(findings)
    }
}
