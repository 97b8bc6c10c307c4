package import Scopes
package import Versions

/// Names a server file within the store.
package struct ServerFileID: Hashable, Sendable {
    package let rawValue: Int64

    package init(_ rawValue: Int64) {
        self.rawValue = rawValue
    }

    /// The id of no server file.
    package static let none = ServerFileID(0)
}

/// The server's realm of one partition; its client files are replicas of it (sync history, 11.1).
package struct ServerFile: Hashable, Sendable {
    package let id: ServerFileID
    package let app: AppID
    package let partition: Partition
    package var currentVersion: ServerVersion
    /// The version up to which history is trimmed.
    package var baseVersion: SaltedServerVersion
    /// Larger after each termination of sync: idents of older generations are void.
    package var generation: UInt64
    /// Bytes of all changesets up to the current version.
    package var historySizeInBytes: UInt64
    /// The state with which new clients begin; nil: they begin with the history.
    package var snapshot: FileSnapshot?

    package init(
        id: ServerFileID,
        app: AppID,
        partition: Partition,
        currentVersion: ServerVersion = .zero,
        baseVersion: SaltedServerVersion = .zero,
        generation: UInt64 = 0,
        historySizeInBytes: UInt64 = 0,
        snapshot: FileSnapshot? = nil
    ) {
        self.id = id
        self.app = app
        self.partition = partition
        self.currentVersion = currentVersion
        self.baseVersion = baseVersion
        self.generation = generation
        self.historySizeInBytes = historySizeInBytes
        self.snapshot = snapshot
    }
}

extension ServerFile {
    /// Whether history is missing that no snapshot replaces: one must be made before a new client begins.
    package var lacksState: Bool { baseVersion.version > .zero && snapshot == nil }

    /// Begins a generation: the history ends, and with it everything that clients know. The objects stay,
    /// and new clients begin with a snapshot at the current version.
    package mutating func restart(in generation: UInt64, _ salts: VersionSalts) {
        self.generation = generation
        guard currentVersion > .zero else { return }
        // Each changeset of the snapshot takes a version up to the current one.
        let size = max(historySizeInBytes, snapshot?.sizeInBytes ?? 0)
        currentVersion = ServerVersion(currentVersion.rawValue &+ 2 &+ size >> 18)
        baseVersion = SaltedServerVersion(version: currentVersion, salt: salts.salt(of: self))
        historySizeInBytes = 0
        snapshot = nil
    }
}

/// The state of a server file at one version, as changesets that replace the history up to there
/// (interfaces, 9).
package struct FileSnapshot: Hashable, Sendable {
    package let version: ServerVersion
    package let sizeInBytes: UInt64
    /// The size of the history up to the version.
    package let historySizeInBytes: UInt64

    package init(version: ServerVersion, sizeInBytes: UInt64, historySizeInBytes: UInt64) {
        self.version = version
        self.sizeInBytes = sizeInBytes
        self.historySizeInBytes = historySizeInBytes
    }
}

/// The server's record of a client's replica (sync history, 11.3).
package struct ClientFile: Hashable, Sendable {
    package let ident: FileIdent
    package let salt: Salt
    package let owner: UserID
    /// The server file's generation when the ident was allocated.
    package let generation: UInt64
    /// The newest integrated client version, and the client's server version at that point. The
    /// latter is also the base of its reciprocal history.
    package var upload: UploadCursor
    /// The client needs no history up to this version; never decreases.
    package var lockedServerVersion: ServerVersion
    package var isExpired: Bool
    /// A new random number with each IDENT, 0 before the first one: only the newest session may upload
    /// (sync history, 18.4).
    package var sessionEpoch: UInt64
    /// Milliseconds since 1970.
    package var lastSeenAt: Int64
    /// The version of the snapshot that replaces the history up to it for this client, in downloads
    /// and in merges of its uploads. 0: no snapshot.
    package var snapshotVersion: ServerVersion

    package init(
        ident: FileIdent,
        salt: Salt,
        owner: UserID,
        generation: UInt64,
        upload: UploadCursor = .zero,
        lockedServerVersion: ServerVersion = .zero,
        isExpired: Bool = false,
        sessionEpoch: UInt64 = 0,
        lastSeenAt: Int64,
        snapshotVersion: ServerVersion = .zero
    ) {
        self.ident = ident
        self.salt = salt
        self.owner = owner
        self.generation = generation
        self.upload = upload
        self.lockedServerVersion = lockedServerVersion
        self.isExpired = isExpired
        self.sessionEpoch = sessionEpoch
        self.lastSeenAt = lastSeenAt
        self.snapshotVersion = snapshotVersion
    }
}

/// One server version: a changeset, transformed and applied (sync history, 11.2).
package struct HistoryEntry: Hashable, Sendable {
    package let version: SaltedServerVersion
    /// 0: the server.
    package let origin: FileIdent
    /// The version on the origin client; 0 for the server's own. In an entry for one client only:
    /// that client's version whose writes it compensates, 0 if it reports none.
    package let clientVersion: ClientVersion
    package let timestamp: OriginTimestamp
    /// Empty if the merge removed all of it.
    package let changeset: [UInt8]
    /// Bytes of all changesets up to and including this one.
    package let cumulativeSizeInBytes: UInt64
    /// The only client that gets it; nil for all clients (sync history, 11.2).
    package let recipient: FileIdent?

    package init(
        version: SaltedServerVersion,
        origin: FileIdent,
        clientVersion: ClientVersion,
        timestamp: OriginTimestamp,
        changeset: [UInt8],
        cumulativeSizeInBytes: UInt64,
        recipient: FileIdent? = nil
    ) {
        self.version = version
        self.origin = origin
        self.clientVersion = clientVersion
        self.timestamp = timestamp
        self.changeset = changeset
        self.cumulativeSizeInBytes = cumulativeSizeInBytes
        self.recipient = recipient
    }
}
