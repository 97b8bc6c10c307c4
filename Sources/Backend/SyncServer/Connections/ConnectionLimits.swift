import SyncProtocol

/// The limits of one connection's memory at the server.
enum ConnectionLimits {
    /// Messages that the client has not received; above it the server stops reading from the
    /// client.
    static let messagesInOutbox = 256
    /// Changesets that the client has not received; above it the server reads no more from the
    /// store.
    static let bytesInOutbox = 256 << 10
    /// Changesets of a bootstrap that the client has not received; above it the server waits with the
    /// next message. A state of the store is held until the last one is in the outbox.
    static let bytesOfBootstrapInOutbox = 8 << 20
    static let scansAtOnce = 2
    /// Uploads that wait for the store; above it the server stops reading from the client. If the store
    /// makes no progress, they get a transient error (sync history, 14.5).
    static let uploadBacklogInBytes = 8 << 20
    /// Uploads of one session that are integrated in one transaction.
    static let uploadsAtOnceInBytes = 1 << 20
    /// Uploads of all connections together that wait for the store; above it the server stops reading from
    /// clients with waiting uploads, and above twice as much they get a transient error.
    static let uploadsOfAllInBytes = 256 << 20
    /// Messages that wait for the store's answer to a BIND or IDENT, by their size in memory. Above
    /// it the server stops reading from the client.
    static let bytesBehindOpening = 16 << 20

    /// The back-off after a transient refusal.
    static let backoff = JSONErrorBody.Backoff(
        initialInSeconds: 2,
        maximumInSeconds: 300,
        multiplier: 2
    )
}
