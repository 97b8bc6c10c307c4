/// The limits on what one end accepts (wire protocol, 15).
package struct Limits: Hashable, Sendable {
    /// Longest whole message; a longer one closes the connection with 1009.
    package var messageSizeInBytes: Int
    /// Largest decompressed size that a body may announce.
    package var bodySizeInBytes: UInt64
    /// Longest BIND path; a longer one is an illegal realm path.
    package var pathSizeInBytes: Int
    /// Longest token in a BIND.
    package var tokenSizeInBytes: Int
    /// Changesets in one UPLOAD: empty ones, which no client needs to send, take memory too.
    package var changesetsPerUpload: Int
    /// Sessions open at the same time on one connection; a user may have 5 000 client files.
    package var sessionsPerConnection: Int

    package init(
        messageSizeInBytes: Int,
        bodySizeInBytes: UInt64,
        pathSizeInBytes: Int = 1024,
        tokenSizeInBytes: Int = 2048,
        changesetsPerUpload: Int = 1 << 18,
        sessionsPerConnection: Int = 8192
    ) {
        self.messageSizeInBytes = messageSizeInBytes
        self.bodySizeInBytes = bodySizeInBytes
        self.pathSizeInBytes = pathSizeInBytes
        self.tokenSizeInBytes = tokenSizeInBytes
        self.changesetsPerUpload = changesetsPerUpload
        self.sessionsPerConnection = sessionsPerConnection
    }

    /// The limits of our server: 16 MiB with some room for the head.
    package static let server = Limits(
        messageSizeInBytes: 16 << 20 + 64 << 10,
        bodySizeInBytes: 64 << 20
    )

    /// The limits of our client.
    package static let client = Limits(
        messageSizeInBytes: 1 << 30 + 64 << 10,
        bodySizeInBytes: 1 << 30
    )
}
