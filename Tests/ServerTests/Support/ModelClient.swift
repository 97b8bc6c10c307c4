import Changesets
import Documents
import Merge
import Schemas
import SyncProtocol
import TestSupport
import Testing
import Versions

@testable import ServerStore
@testable import SyncServer

/// A client as the specification describes it, with its realm in memory (sync history, 2 to 7).
struct ModelClient {
    private struct LocalEntry {
        let version: UInt64
        /// The downloaded version at its creation.
        let base: ServerVersion
        let timestamp: UInt64
        let original: [UInt8]
        /// The changeset rebased over later downloads.
        var reciprocal: Changeset
    }

    private(set) var file: ClientFile
    private(set) var realm = InMemoryRealm()
    private var version: UInt64 = 1
    private var history: [LocalEntry] = []
    private var download = DownloadCursor.zero
    private var latest = SaltedServerVersion.zero

    init(_ file: ClientFile) {
        self.file = file
    }

    // MARK: Writing

    /// Commits one change that an application might make.
    mutating func write(at timestamp: UInt64, using random: inout SplitMix64) throws {
        let id = Int64.random(in: 0..<6, using: &random)
        try commit(change(of: id, using: &random), at: timestamp)
    }

    /// Commits a changeset.
    mutating func commit(_ bytes: [UInt8], at timestamp: UInt64) throws {
        let changeset = try Changeset(decoding: bytes)
        try realm.apply(changeset)
        version += 1
        history.append(
            LocalEntry(
                version: version,
                base: download.serverVersion,
                timestamp: timestamp,
                original: bytes,
                reciprocal: changeset
            )
        )
    }

    private func change(of id: Int64, using random: inout SplitMix64) -> [UInt8] {
        guard realm.schema["Task"] != nil else { return Tasks.schema }
        guard case .list(let tags)? = realm.value("tags", of: Tasks.object(id)) else {
            return Tasks.create(id, title: "made by \(file.ident.rawValue)")
        }
        switch Int.random(in: 0..<8, using: &random) {
        case 0: return Tasks.erase(id)
        case 1...2: return Tasks.count(id, Int64.random(in: -3...9, using: &random))
        case 3...5:
            let tag = "\(file.ident.rawValue)-\(version)"
            return Tasks.appendTag(id, tag, at: UInt32(tags.count))
        default: return Tasks.setTitle(id, "title \(file.ident.rawValue)-\(version)")
        }
    }

    /// Puts something into the realm, or takes it out, that no changeset tells of: a fault of this client.
    mutating func diverge(_ object: ObjectReference, _ change: (inout Document?) -> Void) {
        var document = realm.document(for: object)
        change(&document)
        if let document {
            realm.setDocument(document, for: object)
        } else {
            realm.removeDocument(for: object)
        }
    }

    // MARK: Syncing

    /// A new session: idents, and everything that is not acknowledged will be sent again.
    mutating func reconnect(to world: ServerFileWorld) async throws {
        file = try await world.identify(file.salted, at: download, latest: latest)
    }

    /// Uploads everything after the acknowledged version, as often as it is called.
    @discardableResult
    func upload(to world: ServerFileWorld) async throws -> UploadIntegration.Outcome {
        let pending = history.filter { ClientVersion($0.version) > file.upload.clientVersion }
        return try await world.upload(
            pending.map { entry in
                UploadChangeset(
                    cursor: UploadCursor(
                        clientVersion: ClientVersion(entry.version),
                        lastIntegratedServerVersion: entry.base
                    ),
                    originTimestamp: OriginTimestamp(entry.timestamp),
                    originFileIdent: .none,
                    bytes: entry.original
                )
            },
            progress: UploadCursor(
                clientVersion: ClientVersion(version),
                lastIntegratedServerVersion: download.serverVersion
            ),
            by: file
        )
    }

    /// Downloads one batch; true if that was all.
    mutating func downloadOnce(from world: ServerFileWorld) async throws -> Bool {
        let batch = try await world.scan(for: file, from: download)
        for changeset in batch.changesets {
            try integrate(changeset)
        }
        download = batch.progress.download
        latest = batch.progress.latestServerVersion
        return batch.isComplete
    }

    /// Merges with what the server had not seen when it made the version (sync history, 7.4).
    private mutating func integrate(_ incoming: DownloadChangeset) throws {
        let seen = incoming.cursor.lastIntegratedClientVersion.rawValue
        var theirs = [
            MergeOperand(
                changeset: try Changeset(decoding: incoming.bytes),
                stamp: Stamp(
                    timestamp: incoming.originTimestamp.rawValue,
                    fileIdent: incoming.originFileIdent.rawValue
                )
            )
        ]
        let concurrent = history.indices.filter { history[$0].version > seen }
        var ours = concurrent.map { index in
            MergeOperand(
                changeset: history[index].reciprocal,
                stamp: Stamp(
                    timestamp: history[index].timestamp,
                    fileIdent: file.ident.rawValue
                )
            )
        }
        try rebase(ours: &ours, theirs: &theirs)
        for (index, operand) in zip(concurrent, ours) {
            history[index].reciprocal = operand.changeset
        }
        try realm.apply(theirs[0].changeset)
        version += 1
    }
}
