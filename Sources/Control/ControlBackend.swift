/// What the control API asks of the agent behind it.
package protocol ControlBackend: Sendable {
    func status() async -> StatusReport
    /// Syncs the realm now, and returns when everything is up and down or the time is over.
    func sync(realm: String, timeout: Duration?) async throws(ControlError) -> SyncReport
}
