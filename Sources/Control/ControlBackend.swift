/// What the control API asks of the agent behind it.
package protocol ControlBackend: Sendable {
    func status() async -> StatusReport
    /// Syncs the realm now, and returns when everything is up and down or the time is over.
    func sync(realm: String, timeout: Duration?) async throws(ControlError) -> SyncReport
    /// The events after a position, or all that are kept; with `follow` also those to come.
    func events(after position: UInt64?, follow: Bool) -> AsyncStream<EventRecord>
    func logLevels() async -> LogReport
    func setLogLevel(_ change: LogLevelChange) async throws(ControlError) -> LogReport
}
