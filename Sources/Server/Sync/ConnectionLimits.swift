import SyncProtocol

/// What one connection may keep the server holding in memory.
enum ConnectionLimits {
    /// Answers that the client has not taken in; above it nothing more is read from the client.
    static let messagesInOutbox = 256
    /// Changesets that the client has not taken in; above it none are read from the store.
    static let bytesInOutbox = 256 << 10
    static let scansAtOnce = 2
    /// Uploads that wait for the store; above it nothing more is read from the client. If the store makes no
    /// progress, they are refused for now (sync history, 14.5).
    static let uploadBacklogInBytes = 8 << 20
    /// Uploads of one session that the store makes part of the history in one go.
    static let uploadsAtOnceInBytes = 1 << 20
    /// Uploads of all connections together that wait for the store; above it nothing more is read from those
    /// clients whose uploads wait, and above twice as much they are refused for now.
    static let uploadsOfAllInBytes = 256 << 20
    /// Messages that wait until the store has answered a BIND or IDENT, as they are in memory; above it
    /// nothing more is read from the client.
    static let bytesBehindOpening = 16 << 20

    /// When to come back after a refusal that time can heal.
    static let backoff = JSONErrorBody.Backoff(
        initialInSeconds: 2,
        maximumInSeconds: 300,
        multiplier: 2
    )
}
