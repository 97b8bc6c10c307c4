/// What became of a new configuration: the answer of `POST /v1/reload`, in paths of its keys.
package struct ReloadReport: Codable, Sendable, Equatable {
    /// Changed, and in effect.
    package let applied: [String]
    package let unchanged: [String]
    /// Changed, but in effect with the next start only.
    package let needsRestart: [String]

    package init(applied: [String], unchanged: [String], needsRestart: [String]) {
        self.applied = applied
        self.unchanged = unchanged
        self.needsRestart = needsRestart
    }
}
