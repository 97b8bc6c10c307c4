import Changesets
import Documents
import Schemas
import Scopes
import ServerFixtures
import SyncProtocol
import Testing
import Versions

@testable import SQLiteServerStore
@testable import ServerStore
@testable import SyncServer

/// One server file in a store in memory, and clients that speak to the engine without any session.
struct ServerFileWorld {
    let store: any Store
    let engine: SyncEngine
    let clock: ManualClock
    let file: ServerFileID
    var policy = SchemaPolicy(allowsAdditions: true)

    static let app = AppID.named("shop-abcde")
    static let ann = UserID("ann")

    init(
        downloadLimitInBytes: Int = 1 << 20,
        snapshots: SnapshotPolicy = SnapshotPolicy(compactionSizeInBytes: 0),
        store: (any Store)? = nil,
        isStrict: Bool = true,
        merging: MergeLimits = MergeLimits(),
        seed: UInt64 = 1
    ) async throws {
        self.clock = ManualClock()
        if let store {
            self.store = isStrict ? .strict(store) : store
        } else {
            self.store = try await .strictOfRun()
        }
        self.engine = SyncEngine(
            store: self.store,
            clock: clock.wallClock,
            random: .seeded(seed),
            downloadLimitInBytes: downloadLimitInBytes,
            snapshots: snapshots,
            merging: merging
        )
        // A termination is recorded with the app.
        try await self.store.write(.app(Self.app)) { transaction in
            guard try !transaction.apps().contains(where: { $0.id == Self.app }) else { return }
            try transaction.insert(AppRecord(id: Self.app, domainID: "d", keys: []), at: 0)
        }
        self.file = try await self.store.write { transaction in
            try transaction.makeFile(of: Self.app, .string("store-42")).id
        }
    }

    /// A client file that has just been bound and identified.
    func client() async throws -> ClientFile {
        let opened = try await engine.open(
            .string("store-42"),
            of: Self.app,
            for: Self.ann,
            needsFileIdent: true
        )
        let ident = try #require(opened.assigned)
        return try await identify(ident)
    }

    func identify(
        _ ident: SaltedFileIdent,
        at cursor: DownloadCursor = .zero,
        latest: SaltedServerVersion = .zero,
        as user: UserID = Self.ann
    ) async throws -> ClientFile {
        let message = ClientMessage.Ident(
            session: 1,
            file: ident,
            download: cursor,
            latestServerVersion: latest
        )
        return try await engine.identify(message, in: file, for: user)
    }

    @discardableResult
    func upload(
        _ changesets: [UploadChangeset],
        progress: UploadCursor? = nil,
        locked: UInt64 = 0,
        by client: ClientFile,
        partitionKey: Text? = nil,
        mayStayPlain: Bool = true
    ) async throws -> UploadIntegration.Outcome {
        let last = changesets.last?.cursor ?? .zero
        return try await engine.integrate(
            Upload(
                client: client.ident,
                sessionEpoch: client.sessionEpoch,
                changesets: changesets,
                progress: progress ?? last,
                lockedServerVersion: ServerVersion(locked),
                mayStayPlain: mayStayPlain
            ),
            into: file,
            policy: policy,
            partitionKey: partitionKey
        )
    }

    func scan(for client: ClientFile, from cursor: DownloadCursor = .zero) async throws
        -> DownloadScan.Batch
    {
        let batch = try await engine.scan(for: client.ident, from: cursor, in: file)
        return try #require(batch)
    }

    func rejectedChangesets(
        of client: ClientFile,
        after version: ServerVersion
    ) async throws -> [RejectedChangeset] {
        try await store.read { [file] snapshot in
            try [RejectedChangeset](
                of: client.ident,
                after: version,
                in: file,
                isFlexible: false,
                from: snapshot
            )
        }
    }

    func stored(_ client: ClientFile) async throws -> ClientFile {
        let stored = try await store.read { [file] in try $0.clientFile(client.ident, in: file) }
        return try #require(stored)
    }

    func serverFile() async throws -> ServerFile {
        let stored = try await store.read { [file] in try $0.file(file) }
        return try #require(stored)
    }

    /// The objects of class `Task` as JSON texts in the server's form, by key.
    func tasks() async throws -> [ObjectKey: String] {
        let (schema, documents) = try await store.read { [file] snapshot in
            var documents: [ObjectKey: [UInt8]] = [:]
            try snapshot.forEachDocument(of: "Task", in: file) { key, json throws(StoreError) in
                documents[key] = json
                return .next
            }
            return (try snapshot.schema(of: file), documents)
        }
        guard let owner = schema["Task"] else { return [:] }
        // Stores keep values, not their spelling.
        let form = JSONForm(schema: schema)
        var tasks: [ObjectKey: String] = [:]
        for (key, json) in documents {
            let document = try form.decodeDocument(json, of: owner)
            tasks[key] = String(decoding: form.encode(document, key: key, of: owner), as: UTF8.self)
        }
        return tasks
    }
}

extension ServerFileWorld {
    /// The server's documents as a realm in memory.
    func realm() async throws -> InMemoryRealm {
        try await store.read { [file] snapshot in
            let schema = try snapshot.schema(of: file)
            let form = JSONForm(schema: schema)
            var realm = InMemoryRealm(schema: schema)
            for owner in schema.classes {
                var documents: [(ObjectKey, [UInt8])] = []
                try snapshot.forEachDocument(of: owner.name, in: file) {
                    key,
                    json throws(StoreError) in
                    documents.append((key, json))
                    return .next
                }
                for (key, json) in documents {
                    let document = try form.decodeDocument(json, of: owner)
                    realm.setDocument(
                        document,
                        for: ObjectReference(className: owner.name, key: key)
                    )
                }
            }
            return realm
        }
    }
}

extension ClientFile {
    var salted: SaltedFileIdent { SaltedFileIdent(ident: ident, salt: salt) }
}
