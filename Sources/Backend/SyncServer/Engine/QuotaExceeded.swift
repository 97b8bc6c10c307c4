import ServerStore

/// A quota is exceeded. The client retries later, and keeps its changes until then.
enum QuotaExceeded: Error, Hashable, Sendable {
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
