import Changesets
import Documents
import FoundationEssentials
import PostgreSQL
import PostgreSQLFixtures
import PostgreSQLServerStore
import SQLite
import SQLiteServerStore
import Schemas
import Scopes
import ServerConfig
import ServerFixtures
import ServerStore
import Testing
import Versions

@testable import ServerStorage

@Suite(
    "store copy",
    .serialized,
    .timeLimit(.minutes(5)),
    .enabled(
        if: PostgreSQLInstallation.isRequiredOrPresent,
        "\(PostgreSQLInstallation.absence)"
    )
)
struct StoreCopyTests {
    private static let app = AppID.named("shop-abcde")
    private let secrets = SecretReader(environment: [:])

    private func location(_ database: TestDatabase) -> StorageLocation {
        .postgreSQL(
            PostgreSQLLocation(
                hosts: [.network(name: "127.0.0.1", port: database.server.port)],
                database: database.name,
                user: "realm",
                tls: .off
            )
        )
    }

    /// A store with rows in every table, and values that jsonb spells differently.
    private func fill(_ path: String) async throws {
        let store = try await SQLiteStore(.file(path: path))
        let owner = ClassSchema(
            name: "Item",
            kind: .topLevel(PrimaryKeySchema(name: "_id", type: .string, isNullable: false)),
            properties: [PropertySchema(name: "weight", type: .double, isNullable: false)]
        )
        let schema = RealmSchema([owner])
        try await store.write(.app(Self.app)) { transaction in
            try transaction.insert(
                AppRecord(
                    id: Self.app,
                    domainID: "d",
                    keys: [SigningKey(id: "k", secret: [1, 2, 3])],
                    declaration: "{}"
                ),
                at: 5
            )
            let file = try transaction.makeFile(of: Self.app, .string("ä"))
            try transaction.putSchema(schema, of: file.id)
            for (key, weight) in [
                ("short", 1.5), (String(repeating: "k", count: 3000), 1e22), ("ü", -0.0),
            ] {
                let key = ObjectKey.string(Text(key))
                let document = Document(values: [.scalar(.double(DoubleBits(weight)))])
                let form = JSONForm(schema: schema)
                try transaction.putDocument(
                    form.encode(document, key: key, of: owner),
                    of: ObjectReference(className: "Item", key: key),
                    in: file.id
                )
            }
            for key in ["short", String(repeating: "k", count: 3000)] {
                try transaction.put(
                    ImportedRecord(file: file.id, digest: UInt64.max - 5),
                    of: ObjectReference(className: "Item", key: .string(Text(key))),
                    in: Self.app
                )
            }
            try transaction.append(
                [
                    HistoryEntry(
                        version: SaltedServerVersion(
                            version: ServerVersion(1),
                            salt: Salt(UInt64(Int64.max))
                        ),
                        origin: FileIdent(0),
                        clientVersion: ClientVersion(0),
                        timestamp: OriginTimestamp(7),
                        changeset: [0, 255, 1],
                        cumulativeSizeInBytes: 3
                    )
                ],
                to: file.id
            )
            try transaction.put(
                ClientFile(
                    ident: FileIdent(2),
                    salt: Salt(9),
                    owner: UserID("u"),
                    generation: 0,
                    sessionEpoch: UInt64(Int64.max),
                    lastSeenAt: 3
                ),
                in: file.id
            )
        }
        await store.close()
    }

    private func dump(_ path: String) throws -> [[[SQLiteValue]]] {
        let store = try StoppedStore(path: path, createsFile: false)
        return try CopiedTable.all.map { table in
            try store.connection.rows(table.selection).sorted { "\($0)" < "\($1)" }
        }
    }

    @Test("There and back: every row as before, the sources are refused")
    func thereAndBack() async throws {
        try await withTemporaryDirectory { directory in
            let (first, last) = ("\(directory)/first.sqlite", "\(directory)/last.sqlite")
            try await fill(first)
            let before = try dump(first)
            let database = try TestDatabase()
            let there = try StoreCopy.run(
                from: .sqlite(path: first),
                to: location(database),
                secrets
            )
            #expect(there.first { $0.table == "object" }?.rows == 3)
            #expect(there.first { $0.table == "history" }?.rows == 1)
            #expect(there.first { $0.table == "imported_object" }?.rows == 2)
            let refused = await #expect(throws: StoreError.self) {
                _ = try await SQLiteStore(.file(path: first))
            }
            #expect(refused?.kind == .unusable)
            #expect(refused?.message.contains("was copied to postgresql://") == true)

            // The store works, with numbers behind those that were copied.
            let opened = try await PostgreSQLStore.open(
                Target(try #require(Self.postgreSQL(location(database))), secrets)
            )
            let new = try await opened.write(.app(Self.app)) { transaction in
                try transaction.makeFile(of: Self.app, .string("new"))
            }
            #expect(new.id == ServerFileID(2))
            try await opened.write(.app(Self.app)) { transaction in
                try transaction.removeIfEmpty(new.id, seenBefore: nil)
            }
            await opened.close()

            let back = try StoreCopy.run(
                from: location(database),
                to: .sqlite(path: last),
                secrets
            )
            #expect(back.map(\.rows) == there.map(\.rows))
            #expect(try dump(last) == before)
            await #expect(throws: StoreError.self) {
                _ = try await PostgreSQLStore.open(
                    Target(try #require(Self.postgreSQL(location(database))), secrets)
                )
            }
            let again = try await SQLiteStore(.file(path: last))
            await again.close()
        }
    }

    private static func postgreSQL(_ location: StorageLocation) -> PostgreSQLLocation? {
        if case .postgreSQL(let database) = location { database } else { nil }
    }

    @Test("Refused: a target with rows, a moved source, the same store, one in use")
    func refusals() async throws {
        try await withTemporaryDirectory { directory in
            let path = "\(directory)/store.sqlite"
            try await fill(path)
            let source = StorageLocation.sqlite(path: path)
            let database = try TestDatabase()
            #expect(throws: StoreCopyFailure.self) {
                try StoreCopy.run(from: source, to: source, secrets)
            }
            let used = try await SQLiteStore(.file(path: path))
            #expect(throws: StoreError.self) {
                try StoreCopy.run(from: source, to: location(database), secrets)
            }
            await used.close()
            _ = try StoreCopy.run(from: source, to: location(database), secrets)
            let other = "\(directory)/other.sqlite"
            try await fill(other)
            let full = #expect(throws: StoreCopyFailure.self) {
                try StoreCopy.run(from: .sqlite(path: other), to: location(database), secrets)
            }
            #expect(full?.description.contains("is not empty") == true)
            let moved = #expect(throws: StoreCopyFailure.self) {
                try StoreCopy.run(
                    from: source,
                    to: .sqlite(path: "\(directory)/third.sqlite"),
                    secrets
                )
            }
            #expect(moved?.description.contains("was moved to postgresql://") == true)
        }
    }

    @Test("Every table and column of both layouts is copied, or known to be left out")
    func completeness() throws {
        let database = try TestDatabase()
        var target = database.target()
        target.schema = "realm"
        let connection = try Connection(target, deadline: .after(.seconds(60)))
        _ = try PostgreSQLLayout.prepare(connection, schema: "realm")
        let rows = try connection.run(
            """
            SELECT table_name::text, column_name::text FROM information_schema.columns
            WHERE table_schema = 'realm'
            """
        )
        var missing: Set<String> = []
        let copied = CopiedTable.all.map(\.target)
        for row in 0..<rows.count {
            let (table, column) = (try rows.string(row, 0), try rows.string(row, 1))
            let isCopied = copied.contains { text in
                text.hasPrefix("\(table) ")
                    && text.split { !$0.isLetter && $0 != "_" }.dropFirst().contains {
                        $0 == column
                    }
            }
            if !isCopied { missing.insert("\(table).\(column)") }
        }
        missing = missing.filter {
            !["layout.", "process.", "job.", "attempt."].contains(where: $0.hasPrefix)
        }
        #expect(
            missing == [
                "app.generation", "app.epoch", "app_user.cut_epoch", "server_file.schema_version",
            ]
        )
    }
}
