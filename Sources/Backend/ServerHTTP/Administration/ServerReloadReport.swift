import ServerStore
package import Settings

/// The result of a reload.
package struct ServerReloadReport: Codable, Hashable, Sendable {
    /// Applied settings, by their keys.
    package let applied: [String]
    /// Settings that differ from the running server's and need a restart.
    package let needsRestart: [String]
    package let warnings: [String]

    package init(applied: [String], needsRestart: [String], warnings: [String]) {
        self.applied = applied
        self.needsRestart = needsRestart
        self.warnings = warnings
    }
}

/// The configuration cannot be used; nothing has changed.
package struct ReloadRefused: CodedError, CustomStringConvertible {
    package let diagnostics: [Diagnostic]
    /// An error that only appeared when the configuration was applied.
    package let reason: String?

    package let code = "server.reload"

    package init(diagnostics: [Diagnostic], reason: String?) {
        self.diagnostics = diagnostics
        self.reason = reason
    }

    package var description: String {
        (diagnostics.map(\.description) + (reason.map { [$0] } ?? [])).joined(separator: "\n")
    }
}
