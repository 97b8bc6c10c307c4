/// The agent's operations that the control API needs.
package protocol ControlBackend: RealmOperations, RealmFileOperations {
    func status() async -> StatusReport
    /// Syncs the realm now; returns when all transfers are complete or the timeout has passed.
    func sync(realm: String, timeout: Duration?) async throws(ControlError) -> SyncReport
    /// Reloads the configuration; one with mistakes changes nothing.
    func reload() async throws(ControlError) -> ReloadReport
    /// The events after a position, or all that are kept; with `follow` also those to come.
    func events(after position: UInt64?, follow: Bool) -> AsyncStream<EventRecord>
    /// The handlers, in the order of the configuration.
    func plugins() async -> [PluginReport]
    func logLevels() async -> LogReport
    func setLogLevel(_ change: LogLevelChange) async throws(ControlError) -> LogReport
    /// Resets the realm, or previews that; without a mode, in the configured one.
    func reset(realm: String, _ request: ResetRequest) async throws(ControlError) -> ResetResponse
    /// Opens the realm again, with a session of its own.
    func restart(realm: String) async throws(ControlError)
    func metrics() async -> AgentMetrics
}
