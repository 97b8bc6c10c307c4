/// The result of a reload: the response to `POST /v1/reload`, in paths of configuration keys.
package struct ReloadReport: Codable, Sendable, Equatable {
    /// Changed, and in effect.
    package let applied: [String]
    package let unchanged: [String]
    /// Changed, but in effect with the next start only.
    package let needsRestart: [String]
    /// Warnings, each with its position.
    package let warnings: [String]

    package init(
        applied: [String],
        unchanged: [String],
        needsRestart: [String],
        warnings: [String]
    ) {
        self.applied = applied
        self.unchanged = unchanged
        self.needsRestart = needsRestart
        self.warnings = warnings
    }
}
