/// The output of `import app` (moving an app, 1).
package struct ImportedApp: Sendable {
    package struct File: Hashable, Sendable {
        /// Below the output directory.
        package let path: String
        package let content: String
        package let isProgram: Bool
    }

    /// Empty if a finding is fatal.
    package let files: [File]
    package let findings: ImportFindings
    package let appID: String?
}
