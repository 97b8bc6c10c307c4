/// What one user of an app may have the server keep (`apps.APP.quotas`); nil: as much as it likes.
package struct UserQuotas: Hashable, Sendable {
    /// Realms in which the user has client files.
    package var realms: Int?
    /// Client files in all realms: one for each replica on a device.
    package var clientFiles: Int?
    /// Log-ins that have not ended; beyond it the oldest ends.
    package var sessions: Int?
    /// Bytes of history that the user has uploaded and that are not trimmed yet.
    package var historyBytes: Int?

    package init(
        realms: Int? = 2000,
        clientFiles: Int? = 5000,
        sessions: Int? = 1000,
        historyBytes: Int? = 10 << 30
    ) {
        self.realms = realms
        self.clientFiles = clientFiles
        self.sessions = sessions
        self.historyBytes = historyBytes
    }

    package static let standard = UserQuotas()
    package static let unlimited = UserQuotas(
        realms: nil,
        clientFiles: nil,
        sessions: nil,
        historyBytes: nil
    )
}

/// What a user has the server keep.
package struct UserUsage: Hashable, Sendable {
    package var realms = 0
    package var clientFiles = 0
    /// Whether one of the client files is of the realm that was asked about.
    package var isInRealm = false

    package init(realms: Int = 0, clientFiles: Int = 0, isInRealm: Bool = false) {
        self.realms = realms
        self.clientFiles = clientFiles
        self.isInRealm = isInRealm
    }
}

/// A quota is used up. Its client tries again later, and keeps what it has until then.
package enum QuotaExceeded: Error, Hashable, Sendable {
    case realms(limit: Int)
    case clientFiles(limit: Int)
    case historyBytes(limit: Int)

    /// For the client and the log.
    var message: String {
        switch self {
        case .realms(let limit): "the user has as many realms as it may have (\(limit))"
        case .clientFiles(let limit):
            "the user has as many client files as it may have (\(limit))"
        case .historyBytes(let limit):
            "the user has uploaded as much as the server keeps for it (\(limit) bytes)"
        }
    }
}

extension UserQuotas {
    /// Lets a user have one more client file; `file` is nil where the realm is new.
    func admitClientFile(
        of user: UserID,
        in file: ServerFileID?,
        _ snapshot: any StoreSnapshot
    ) throws {
        guard realms != nil || clientFiles != nil else { return }
        let usage = try snapshot.usage(of: user, in: file)
        if let clientFiles, usage.clientFiles >= clientFiles {
            throw QuotaExceeded.clientFiles(limit: clientFiles)
        }
        if !usage.isInRealm, let realms, usage.realms >= realms {
            throw QuotaExceeded.realms(limit: realms)
        }
    }

    /// Lets a user upload something.
    func admitUpload(of user: UserID, _ snapshot: any StoreSnapshot) throws {
        guard let historyBytes else { return }
        guard try snapshot.historySize(of: user) < historyBytes else {
            throw QuotaExceeded.historyBytes(limit: historyBytes)
        }
    }
}
