/// What the control API asks of the agent behind it.
package protocol ControlBackend: RealmOperations, RealmFileOperations {
    func status() async -> StatusReport
    /// Syncs the realm now, and returns when everything is up and down or the time is over.
    func sync(realm: String, timeout: Duration?) async throws(ControlError) -> SyncReport
    /// Reads the configuration anew, and goes on by it; one with mistakes changes nothing.
    func reload() async throws(ControlError) -> ReloadReport
    /// The events after a position, or all that are kept; with `follow` also those to come.
    func events(after position: UInt64?, follow: Bool) -> AsyncStream<EventRecord>
    /// The handlers, in the order of the configuration.
    func plugins() async -> [PluginReport]
    func logLevels() async -> LogReport
    func setLogLevel(_ change: LogLevelChange) async throws(ControlError) -> LogReport
    /// Resets the realm, or says what that would do; without a mode as it is configured.
    func reset(realm: String, _ request: ResetRequest) async throws(ControlError) -> ResetAnswer
    /// Opens the realm again, with a session of its own.
    func restart(realm: String) async throws(ControlError)
    func metrics() async -> AgentMetrics
}
