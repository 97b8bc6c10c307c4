package import Versions

/// Appends versions to a server file's history: the one place that knows how the next version gets
/// its number, its salt and its size (sync history, 14.4 and 17).
package struct HistoryAppender {
    package enum Author {
        /// A client, in one of its own versions.
        case client(FileIdent, ClientVersion, at: OriginTimestamp)
        /// The server, for all clients.
        case server
        /// The server, for one client only. `compensating` is the client's version whose writes are
        /// reported as undone; nil if there is no report.
        case correction(for: FileIdent, compensating: ClientVersion?)
    }

    /// The server file with the appended versions.
    package private(set) var file: ServerFile
    private let transaction: any StoreTransaction
    private let salt: Salt
    private let now: OriginTimestamp
    private var pending: [HistoryEntry] = []
    private var pendingSizeInBytes = 0

    /// Bytes gathered before they are written to the store.
    private static let gatheredSizeInBytes = 256 << 10

    /// - Parameter now: milliseconds since 1970, the time of the server's own versions.
    package init(
        to file: ServerFile,
        in transaction: any StoreTransaction,
        now: Int64
    ) {
        self.file = file
        self.transaction = transaction
        self.salt = transaction.versionSalts.salt(of: file)
        self.now = OriginTimestamp(millisecondsSince1970: now) ?? OriginTimestamp(0)
    }

    /// The file's current version, with the salt that this transaction gives to versions.
    package var newest: SaltedServerVersion {
        SaltedServerVersion(version: file.currentVersion, salt: salt)
    }

    /// Appends the next version; call `flush` after the last one.
    package mutating func append(_ changeset: [UInt8], by author: Author) throws(StoreError) {
        file.currentVersion = ServerVersion(file.currentVersion.rawValue + 1)
        file.historySizeInBytes += UInt64(changeset.count)
        pending.append(entry(changeset, by: author))
        pendingSizeInBytes += changeset.count
        if pendingSizeInBytes > Self.gatheredSizeInBytes { try flush() }
    }

    /// Writes the gathered versions to the store.
    package mutating func flush() throws(StoreError) {
        guard !pending.isEmpty else { return }
        try transaction.append(pending, to: file.id)
        pending = []
        pendingSizeInBytes = 0
    }

    private func entry(_ changeset: [UInt8], by author: Author) -> HistoryEntry {
        let origin: FileIdent
        let clientVersion: ClientVersion
        var timestamp = now
        var recipient: FileIdent?
        switch author {
        case .client(let client, let version, let moment):
            (origin, clientVersion, timestamp) = (client, version, moment)
        case .server:
            (origin, clientVersion) = (.none, .zero)
        case .correction(let client, let compensated):
            (origin, clientVersion, recipient) = (.none, compensated ?? .zero, client)
        }
        return HistoryEntry(
            version: newest,
            origin: origin,
            clientVersion: clientVersion,
            timestamp: timestamp,
            changeset: changeset,
            cumulativeSizeInBytes: file.historySizeInBytes,
            recipient: recipient
        )
    }
}
