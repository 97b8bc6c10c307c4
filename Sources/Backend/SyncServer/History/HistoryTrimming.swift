import Scopes
import ServerStore
import Versions

/// Removes history that no client needs (sync history, 16): every client that may return has it.
/// New clients begin with a snapshot, those of flexible sync with a bootstrap from the objects.
struct HistoryTrimming {
    let transaction: any StoreTransaction
    /// Milliseconds since 1970.
    let now: Int64
    /// Client files absent for longer keep no history; once history that they need is removed, they
    /// are expired.
    let offlineLimitInMilliseconds: Int64

    /// Returns the version up to which the history is trimmed.
    func run(_ id: ServerFileID) throws(StoreError) -> ServerVersion? {
        guard var file = try transaction.file(id), var end = Self.beginning(of: file) else {
            return nil
        }
        let clients = try transaction.clientFiles(in: id).filter {
            $0.generation == file.generation && !$0.isExpired
        }
        for client in clients
        where now.subtracting(clamping: client.lastSeenAt) <= offlineLimitInMilliseconds {
            // No client has used this ident yet: one that does begins with the snapshot.
            guard client.sessionEpoch > 0 else { continue }
            end = min(end, Self.needsNothing(upTo: client))
        }
        guard end > file.baseVersion.version,
            let salt = try transaction.salt(of: end, in: id)
        else { return nil }
        for var client in clients
        where client.sessionEpoch > 0 && Self.needsNothing(upTo: client) < end {
            client.isExpired = true
            try transaction.put(client, in: id)
            try transaction.removeViews(of: client.ident, in: id, upTo: file.currentVersion)
        }
        file.baseVersion = SaltedServerVersion(version: end, salt: salt)
        try transaction.update(file)
        try transaction.trimHistory(of: id, upTo: end)
        try transaction.removeSnapshots(of: id, only: nil)
        return end
    }

    /// The version that new clients begin with; nil: they need the history.
    private static func beginning(of file: ServerFile) -> ServerVersion? {
        file.partition == .flexible ? file.currentVersion : file.snapshot?.version
    }

    /// The last version whose entry no returning client needs. Assumes that new clients begin with
    /// a snapshot of the present state.
    static func lastUnneededVersion(
        of file: ServerFile,
        seenWithin limit: Int64,
        at now: Int64,
        present: [FileIdent],
        _ store: any FileReading
    ) throws(StoreError) -> ServerVersion {
        var end = file.currentVersion
        for client in try store.clientFiles(in: file.id)
        where client.generation == file.generation && !client.isExpired && client.sessionEpoch > 0 {
            let isBack = now.subtracting(clamping: client.lastSeenAt) <= limit
            guard isBack || present.contains(client.ident) else { continue }
            end = min(end, needsNothing(upTo: client))
        }
        return end
    }

    /// A client that began with a snapshot needs no history up to it.
    private static func needsNothing(upTo client: ClientFile) -> ServerVersion {
        max(
            min(client.upload.lastIntegratedServerVersion, client.lockedServerVersion),
            client.snapshotVersion
        )
    }
}

extension ViewWriting {
    /// Removes what is stored about a client file's views.
    fileprivate func removeViews(
        of client: FileIdent,
        in file: ServerFileID,
        upTo end: ServerVersion
    ) throws(StoreError) {
        try removeViewEpochs(of: client, in: file, from: .zero, to: end)
        try removeViewRanges(of: client, in: file, upTo: end)
        try removeRejections(of: client, in: file, upTo: end)
    }
}
