import Versions

/// Removes history that nobody needs: everybody who may still come back has it, and new clients begin
/// with a snapshot (sync history, 16).
struct HistoryTrimming {
    let transaction: any StoreTransaction
    /// Milliseconds since 1970.
    let now: Int64
    /// Client files that were not seen for longer do not hold history back; once history that they
    /// need is gone, they are expired.
    let offlineLimitInMilliseconds: Int64

    /// Returns how far the history is trimmed.
    func run(_ id: ServerFileID) throws(StoreError) -> ServerVersion? {
        guard var file = try transaction.file(id), let snapshot = file.snapshot else { return nil }
        let clients = try transaction.clientFiles(in: id).filter {
            $0.generation == file.generation && !$0.isExpired
        }
        var end = snapshot.version
        for client in clients
        where now.subtracting(clamping: client.lastSeenAt) <= offlineLimitInMilliseconds {
            // An ident that nobody has come with yet: whoever does begins with the snapshot.
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
        }
        file.baseVersion = SaltedServerVersion(version: end, salt: salt)
        try transaction.update(file)
        try transaction.trimHistory(of: id, upTo: end)
        try transaction.removeSnapshots(of: id, only: nil)
        return end
    }

    /// How far the history is of use to no client that may still come back, if those that begin had a
    /// snapshot of today.
    static func neededByNobody(
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

    /// Where a snapshot stands for the history, the history up to there is of no use either.
    private static func needsNothing(upTo client: ClientFile) -> ServerVersion {
        max(
            min(client.upload.lastIntegratedServerVersion, client.lockedServerVersion),
            client.snapshotVersion
        )
    }
}
