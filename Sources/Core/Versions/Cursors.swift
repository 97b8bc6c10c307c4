/// Number of an entry in a server file's history; 0 is the beginning (sync history, 1).
package struct ServerVersion: Hashable, Sendable, Comparable {
    /// 0 ... 2^63 - 1.
    package let rawValue: UInt64

    package init(_ rawValue: UInt64) {
        self.rawValue = rawValue
    }

    package static let zero = ServerVersion(0)

    package static func < (left: ServerVersion, right: ServerVersion) -> Bool {
        left.rawValue < right.rawValue
    }
}

/// Number of a commit in a client file; 1 is the file never written, 0 the beginning of history.
package struct ClientVersion: Hashable, Sendable, Comparable {
    /// 0 ... 2^63 - 1.
    package let rawValue: UInt64

    package init(_ rawValue: UInt64) {
        self.rawValue = rawValue
    }

    package static let zero = ClientVersion(0)

    package static func < (left: ClientVersion, right: ClientVersion) -> Bool {
        left.rawValue < right.rawValue
    }
}

/// A server version with the salt of the process that made it.
package struct SaltedServerVersion: Hashable, Sendable {
    package let version: ServerVersion
    package let salt: Salt

    package init(version: ServerVersion, salt: Salt) {
        self.version = version
        self.salt = salt
    }

    package static let zero = SaltedServerVersion(version: .zero, salt: .none)
}

/// The server history that a client has integrated, and the part of the client's own history that
/// the server had integrated at that point.
package struct DownloadCursor: Hashable, Sendable {
    package let serverVersion: ServerVersion
    package let lastIntegratedClientVersion: ClientVersion

    package init(serverVersion: ServerVersion, lastIntegratedClientVersion: ClientVersion) {
        self.serverVersion = serverVersion
        self.lastIntegratedClientVersion = lastIntegratedClientVersion
    }

    package static let zero = DownloadCursor(
        serverVersion: .zero,
        lastIntegratedClientVersion: .zero
    )

    package var isConsistent: Bool {
        serverVersion != .zero || lastIntegratedClientVersion == .zero
    }
}

/// The part of a client's history that the peer has, and the server history that the client had
/// integrated at that point.
package struct UploadCursor: Hashable, Sendable {
    package let clientVersion: ClientVersion
    package let lastIntegratedServerVersion: ServerVersion

    package init(clientVersion: ClientVersion, lastIntegratedServerVersion: ServerVersion) {
        self.clientVersion = clientVersion
        self.lastIntegratedServerVersion = lastIntegratedServerVersion
    }

    package static let zero = UploadCursor(clientVersion: .zero, lastIntegratedServerVersion: .zero)

    package var isConsistent: Bool {
        clientVersion != .zero || lastIntegratedServerVersion == .zero
    }

    /// Both parts order the two cursors the same way (sync history, 1).
    package func isMutuallyConsistent(with other: UploadCursor) -> Bool {
        if clientVersion < other.clientVersion {
            lastIntegratedServerVersion <= other.lastIntegratedServerVersion
        } else if clientVersion > other.clientVersion {
            lastIntegratedServerVersion >= other.lastIntegratedServerVersion
        } else {
            lastIntegratedServerVersion == other.lastIntegratedServerVersion
        }
    }
}

/// The progress in a DOWNLOAD header, which the client persists (sync history, 1).
package struct SyncProgress: Hashable, Sendable {
    package var latestServerVersion: SaltedServerVersion
    package var download: DownloadCursor
    package var upload: UploadCursor

    package init(
        latestServerVersion: SaltedServerVersion,
        download: DownloadCursor,
        upload: UploadCursor
    ) {
        self.latestServerVersion = latestServerVersion
        self.download = download
        self.upload = upload
    }

    package static let zero = SyncProgress(
        latestServerVersion: .zero,
        download: .zero,
        upload: .zero
    )
}
