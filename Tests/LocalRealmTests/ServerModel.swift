import Changesets
import Documents
import LocalRealm
import Merge
import Versions

/// A server in a few lines: one history, and for each client its progress and its unseen changes
/// (sync history, 14 and 15). It trims nothing and makes no changes of its own.
final class ServerModel {
    private struct Entry {
        let origin: FileIdent
        let clientVersion: ClientVersion
        let timestamp: OriginTimestamp
        let changeset: Changeset
    }

    private struct Client {
        var upload = UploadCursor.zero
        /// By server version: the history as this client has to apply it.
        var reciprocals: [Int: Changeset] = [:]
    }

    private var history: [Entry] = []
    private var clients: [FileIdent: Client] = [:]
    private(set) var state = InMemoryRealm()

    func register() -> SaltedFileIdent {
        let ident = FileIdent(UInt64(clients.count + 2))
        clients[ident] = Client()
        return SaltedFileIdent(ident: ident, salt: Salt(1))
    }

    func receive(_ batch: UploadBatch, from ident: FileIdent) throws {
        guard var client = clients[ident] else { return }
        var rest = batch.changesets.drop { $0.cursor.clientVersion <= client.upload.clientVersion }
        while let first = rest.first {
            let base = first.cursor.lastIntegratedServerVersion
            let run = rest.prefix { $0.cursor.lastIntegratedServerVersion == base }
            rest = rest.dropFirst(run.count)
            try integrate(run, base: Int(base.rawValue), ident, &client)
        }
        if batch.progress.clientVersion > client.upload.clientVersion {
            client.upload = batch.progress
            let base = Int(batch.progress.lastIntegratedServerVersion.rawValue)
            client.reciprocals = client.reciprocals.filter { $0.key > base }
        }
        clients[ident] = client
    }

    private func integrate(
        _ run: ArraySlice<UploadChangeset>,
        base: Int,
        _ ident: FileIdent,
        _ client: inout Client
    ) throws {
        let versions = (base..<history.count).map { $0 + 1 }.filter { version in
            let entry = history[version - 1]
            return entry.origin != ident && !entry.changeset.instructions.isEmpty
        }
        var ours = versions.map { version in
            let entry = history[version - 1]
            return MergeOperand(
                changeset: client.reciprocals[version] ?? entry.changeset,
                stamp: Stamp(
                    timestamp: entry.timestamp.rawValue,
                    fileIdent: entry.origin.rawValue
                )
            )
        }
        var theirs = try run.map { upload in
            MergeOperand(
                changeset: try Changeset(decoding: upload.bytes),
                stamp: Stamp(
                    timestamp: upload.originTimestamp.rawValue,
                    fileIdent: ident.rawValue
                )
            )
        }
        try rebase(ours: &ours, theirs: &theirs)
        for (version, operand) in zip(versions, ours) where operand.isDirty {
            client.reciprocals[version] = operand.changeset
        }
        for (upload, operand) in zip(run, theirs) {
            try state.apply(operand.changeset)
            history.append(
                Entry(
                    origin: ident,
                    clientVersion: upload.cursor.clientVersion,
                    timestamp: upload.originTimestamp,
                    changeset: operand.changeset
                )
            )
        }
    }

    /// The client requests versions that it has acknowledged: its file is an older one (wire
    /// protocol, error 209).
    struct ClientHasForgotten: Error {}

    /// The unseen changesets of the client: at most some, and their cursors.
    func download(
        for ident: FileIdent,
        after cursor: DownloadCursor,
        limit: Int = .max
    ) throws(ClientHasForgotten) -> ([DownloadChangeset], SyncProgress) {
        if let client = clients[ident],
            client.upload.lastIntegratedServerVersion > cursor.serverVersion
        {
            throw ClientHasForgotten()
        }
        var changesets: [DownloadChangeset] = []
        var reached = cursor
        for version in (Int(cursor.serverVersion.rawValue)..<history.count).map({ $0 + 1 }) {
            let entry = history[version - 1]
            let serverVersion = ServerVersion(UInt64(version))
            if entry.origin == ident {
                reached = DownloadCursor(
                    serverVersion: serverVersion,
                    lastIntegratedClientVersion: entry.clientVersion
                )
                continue
            }
            guard changesets.count < limit else { break }
            reached = DownloadCursor(
                serverVersion: serverVersion,
                lastIntegratedClientVersion: reached.lastIntegratedClientVersion
            )
            let bytes = entry.changeset.encoded()
            guard !bytes.isEmpty else { continue }
            changesets.append(
                DownloadChangeset(
                    cursor: reached,
                    originTimestamp: entry.timestamp,
                    originFileIdent: entry.origin,
                    originalSizeInBytes: UInt64(bytes.count),
                    bytes: bytes
                )
            )
        }
        let progress = SyncProgress(
            latestServerVersion: SaltedServerVersion(
                version: ServerVersion(UInt64(history.count)),
                salt: Salt(7)
            ),
            download: reached,
            upload: clients[ident]?.upload ?? .zero
        )
        return (changesets, progress)
    }
}

extension RealmFixture {
    /// Sends the unacknowledged changesets; the answer may be lost.
    func upload(to server: ServerModel) throws {
        let status = realm.status
        let batch = try realm.scanUploads(from: status.progress.upload, upTo: status.localVersion)
        try realm.makeDurable()
        try server.receive(batch, from: status.fileIdent.ident)
    }

    func download(from server: ServerModel, limit: Int = .max) throws {
        let (changesets, progress) = try server.download(
            for: realm.status.fileIdent.ident,
            after: realm.status.progress.download,
            limit: limit
        )
        _ = try realm.integrate(changesets, progress: progress, downloadableBytes: 0)
    }
}
