import Changesets
import PostgreSQL
import PostgreSQLFixtures
import Schemas
import Scopes
import ServerFixtures
import ServerStore
import Versions

@testable import PostgreSQLServerStore

/// Stores on one database, as several processes have them, and what tests do with them.
struct StoreWorld {
    let database: TestDatabase
    let direct: Connection

    static let app = AppID.named("shop-abcde")
    static let user = UserID("65a1f0c2e4b0a1b2c3d4e5a1")

    init() throws {
        database = try PostgreSQLStores.database()
        var target = database.target()
        target.schema = "realm"
        direct = try Connection(target, deadline: .after(.seconds(60)))
    }

    /// - Parameter lanes: one makes the connection of all work known.
    func store(
        lanes: Int = 8,
        _ host: Target.Host? = nil,
        _ change: (inout Target, inout PostgreSQLStore.Options) -> Void = { _, _ in }
    ) async throws -> PostgreSQLStore {
        var options = PostgreSQLStore.Options()
        options.lanes.lanes = lanes
        var target = database.target(host)
        change(&target, &options)
        return try await PostgreSQLStore.open(target, options)
    }

    /// A new server file with a schema and a client file that was identified.
    func file(_ store: PostgreSQLStore, _ partition: Partition = .null) async throws -> ServerFileID
    {
        try await store.write(.partition(Self.app, partition)) { transaction in
            let file = try transaction.makeFile(of: Self.app, partition).id
            let ident = try transaction.takeFileIdent(in: file)
            try transaction.put(Self.client(ident), in: file)
            try transaction.putSchema(Self.schema, of: file)
            return file
        }
    }

    static let schema: RealmSchema = {
        var schema = RealmSchema()
        let key = PrimaryKeySchema(name: "_id", type: .int, isNullable: false)
        schema.update(ClassSchema(name: "Task", kind: .topLevel(key)))
        return schema
    }()

    static func client(_ ident: FileIdent) -> ClientFile {
        ClientFile(
            ident: ident,
            salt: Salt(7),
            owner: user,
            generation: 0,
            sessionEpoch: 1,
            lastSeenAt: 1
        )
    }

    static let ident = FileIdent(2)

    static func object(_ key: Int64) -> ObjectReference {
        ObjectReference(className: "Task", key: .int(key))
    }

    static func document(_ key: Int64) -> [UInt8] {
        Array("{\"_id\":\(key),\"name\":\"task \(key)\"}".utf8)
    }

    /// The reads of an upload, as its body makes them.
    static func uploadReads(_ keys: [Int64], in file: ServerFileID) -> ExpectedReads {
        ExpectedReads(
            file: .id(file),
            client: ident,
            hasSchema: true,
            history: ExpectedReads.History(after: .zero, reader: ident, withReciprocals: true),
            documents: keys.map(object),
            usage: user
        )
    }

    /// The reads and writes of an upload of new objects, as one version.
    static func upload(
        _ keys: [Int64],
        into file: ServerFileID,
        _ transaction: any StoreTransaction
    ) throws -> ServerVersion {
        _ = try transaction.historySize(of: user)
        guard var stored = try transaction.file(file),
            var client = try transaction.clientFile(ident, in: file)
        else { throw StoreError(.failed, "no file") }
        _ = try transaction.schema(of: file)
        var versions: [ServerVersion] = []
        try transaction.forEachEntry(of: file, after: .zero, readBy: ident) {
            entry throws(StoreError) in
            versions.append(entry.version.version)
            _ = try transaction.reciprocal(of: entry.version.version, for: ident, in: file)
            return .next
        }
        let salt = transaction.versionSalts.salt(of: stored)
        for key in keys {
            guard try transaction.addDocument(document(key), of: object(key), in: file) else {
                throw StoreError(.failed, "object \(key) exists")
            }
        }
        let changeset = [UInt8](repeating: 1, count: 10 * keys.count)
        stored.currentVersion = ServerVersion(stored.currentVersion.rawValue + 1)
        stored.historySizeInBytes += UInt64(changeset.count)
        let entry = HistoryEntry(
            version: SaltedServerVersion(version: stored.currentVersion, salt: salt),
            origin: ident,
            clientVersion: ClientVersion(client.upload.clientVersion.rawValue + 1),
            timestamp: OriginTimestamp(1),
            changeset: changeset,
            cumulativeSizeInBytes: stored.historySizeInBytes
        )
        try transaction.append([entry], to: file)
        try transaction.putReciprocal([9], of: stored.currentVersion, for: ident, in: file)
        client.upload = UploadCursor(
            clientVersion: entry.clientVersion,
            lastIntegratedServerVersion: .zero
        )
        try transaction.put(client, in: file)
        return stored.currentVersion
    }

    @discardableResult
    static func upload(
        _ keys: [Int64],
        into file: ServerFileID,
        _ store: PostgreSQLStore,
        expecting: Bool = true
    ) async throws -> ServerVersion {
        try await store.write(
            .file(file),
            for: .user(user),
            expecting: expecting ? uploadReads(keys, in: file) : .none,
            ofSize: 10 * keys.count
        ) { try upload(keys, into: file, $0) }
    }

    func count(_ table: StaticString) throws -> Int64 {
        try direct.run(table).integer(0, 0)
    }

    /// Removes all that is stored of files.
    func clear() throws {
        try direct.execute(
            "TRUNCATE server_file, file_schema, client_file, history, reciprocal, object"
        )
    }

    /// Everything that is stored of one file, without what two runs have different: the file's id and
    /// the salts.
    func state() throws -> [String] {
        let rows = try direct.run(
            """
            SELECT 'file ' || to_jsonb(f)::text FROM (SELECT current_version,
                history_bytes, next_file_ident, schema_version FROM server_file) f
            UNION ALL SELECT 'client ' || (to_jsonb(c) - 'file_id')::text FROM client_file c
            UNION ALL SELECT 'history ' || version || ' ' || client_version || ' '
                || cumulative_bytes || ' ' || encode(changeset, 'hex') FROM history
            UNION ALL SELECT 'reciprocal ' || (to_jsonb(r) - 'file_id')::text FROM reciprocal r
            UNION ALL SELECT 'object ' || (to_jsonb(o) - 'file_id')::text FROM object o
            ORDER BY 1
            """
        )
        return try (0..<rows.count).map { try rows.string($0, 0) }
    }
}
