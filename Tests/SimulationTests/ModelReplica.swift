import Changesets
import Documents
import Merge
import Schemas
import TestSupport
import Versions

/// A client file in a few lines: a realm in memory, and a history as specified (sync history, 2 and
/// 7). It supports the whole data model, where realm files have scalars so far.
final class ModelReplica: Replica {
    private struct Entry {
        let version: ClientVersion
        let timestamp: OriginTimestamp
        let remoteVersion: ServerVersion
        let changeset: [UInt8]
        /// May be empty: everything was transformed away.
        var reciprocal: [UInt8]?
    }

    private(set) var fileIdent = SaltedFileIdent.none
    private(set) var progress = SyncProgress.zero
    private(set) var localVersion = ClientVersion(1)
    private(set) var realm = InMemoryRealm()
    /// Local entries only: versions without anything to upload are left out (sync history, 2.2).
    private var history: [Entry] = []
    private let number: Int

    init(number: Int) {
        self.number = number
    }

    var historyCount: Int { history.count }
    var reciprocalCount: Int { history.count { $0.reciprocal != nil } }

    /// All state is persistent.
    func restart() {}

    func drain() {}

    func storeFileIdent(_ ident: SaltedFileIdent) {
        fileIdent = ident
    }

    func write(at time: UInt64, using random: inout SplitMix64) throws {
        // Each clock is wrong in its own way, and none goes back.
        let now = OriginTimestamp(time + UInt64(number) * 7 % 5)
        var transaction = RandomTransaction(realm, number: number, random: random)
        try transaction.run()
        random = transaction.random
        realm = transaction.realm
        localVersion = ClientVersion(localVersion.rawValue + 1)
        guard !transaction.bytes.isEmpty else { return }
        history.append(
            Entry(
                version: localVersion,
                timestamp: now,
                remoteVersion: progress.download.serverVersion,
                changeset: transaction.bytes
            )
        )
    }

    /// A part of the changesets, as if the size had reached the soft limit (sync history, 6.1).
    func scanUploads(from cursor: UploadCursor) -> UploadBatch {
        let entries = history.filter { $0.version > cursor.clientVersion }
        let sent = entries.prefix(4)
        let isComplete = sent.count == entries.count
        return UploadBatch(
            changesets: sent.map { entry in
                UploadChangeset(
                    cursor: UploadCursor(
                        clientVersion: entry.version,
                        lastIntegratedServerVersion: entry.remoteVersion
                    ),
                    originTimestamp: entry.timestamp,
                    originFileIdent: .none,
                    bytes: entry.changeset
                )
            },
            progress: UploadCursor(
                clientVersion: isComplete ? localVersion : sent[sent.count - 1].version,
                lastIntegratedServerVersion: isComplete
                    ? progress.download.serverVersion : sent[sent.count - 1].remoteVersion
            ),
            lockedServerVersion: progress.download.serverVersion
        )
    }

    /// One transaction: after an error nothing has changed.
    func integrate(_ changesets: [DownloadChangeset], progress new: SyncProgress) throws {
        var (realm, history) = (realm, history)
        var rest = changesets[...]
        while let first = rest.first {
            let base = first.cursor.lastIntegratedClientVersion
            let run = rest.prefix { $0.cursor.lastIntegratedClientVersion == base }
            rest = rest.dropFirst(run.count)
            try Self.integrate(run, base, fileIdent.ident, &realm, &history)
        }
        (self.realm, self.history) = (realm, history)
        localVersion = ClientVersion(localVersion.rawValue + 1)
        progress = new
        trim()
    }

    private static func integrate(
        _ run: ArraySlice<DownloadChangeset>,
        _ base: ClientVersion,
        _ ident: FileIdent,
        _ realm: inout InMemoryRealm,
        _ history: inout [Entry]
    ) throws {
        let start = history.firstIndex { $0.version > base } ?? history.endIndex
        var ours = try history[start...].map { entry in
            MergeOperand(
                changeset: try Changeset(decoding: entry.reciprocal ?? entry.changeset),
                stamp: Stamp(timestamp: entry.timestamp.rawValue, fileIdent: ident.rawValue)
            )
        }
        var theirs = try run.map { download in
            MergeOperand(
                changeset: try Changeset(decoding: download.bytes),
                stamp: Stamp(
                    timestamp: download.originTimestamp.rawValue,
                    fileIdent: download.originFileIdent.rawValue
                )
            )
        }
        if !ours.isEmpty { try rebase(ours: &ours, theirs: &theirs) }
        for operand in theirs { try realm.apply(operand.changeset) }
        for (position, operand) in zip(history[start...].indices, ours) where operand.isDirty {
            history[position].reciprocal = operand.changeset.encoded()
        }
    }

    /// No version at or below the download cursor's client version is a merge base again (sync
    /// history, 7.6).
    private func trim() {
        let end = max(progress.download.lastIntegratedClientVersion, ClientVersion(1))
        history.removeAll { $0.version <= end }
    }
}
