/// The quotas of one user of an app (`apps.APP.quotas`); nil: no limit.
package struct UserQuotas: Hashable, Sendable {
    /// Realms in which the user has client files.
    package var realms: Int?
    /// Client files in all realms: one for each replica on a device.
    package var clientFiles: Int?
    /// Log-in sessions; beyond it the oldest ends.
    package var sessions: Int?
    /// Bytes of history that the user has uploaded and that are not trimmed.
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

/// A user's present usage.
package struct UserUsage: Hashable, Sendable {
    package var realms = 0
    package var clientFiles = 0
    /// Whether one of the client files belongs to the realm of the query.
    package var isInRealm = false

    package init(realms: Int = 0, clientFiles: Int = 0, isInRealm: Bool = false) {
        self.realms = realms
        self.clientFiles = clientFiles
        self.isInRealm = isInRealm
    }
}

/// A quota is exceeded. The client retries later, and keeps its changes until then.
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
    /// Admits one more client file of a user; `file` is nil if the realm is new.
    func admitClientFile(
        of user: UserID,
        in file: ServerFileID?,
        _ snapshot: any StoreReading
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

    /// Admits an upload of a user.
    func admitUpload(of user: UserID, _ snapshot: any StoreReading) throws {
        guard let historyBytes else { return }
        guard try snapshot.historySize(of: user) < historyBytes else {
            throw QuotaExceeded.historyBytes(limit: historyBytes)
        }
    }
}
