import Changesets
import PostgreSQL
import PostgreSQLFixtures
import Schemas
import Scopes
import ServerFixtures
import ServerStore
import Testing
import Versions

@testable import PostgreSQLServerStore

@Suite(
    "Views for backend teams",
    .serialized,
    .timeLimit(.minutes(5)),
    .enabled(
        if: PostgreSQLInstallation.isRequiredOrPresent,
        "\(PostgreSQLInstallation.absence)"
    )
)
struct AppViewsTests {
    private let world: StoreWorld

    init() throws {
        world = try StoreWorld()
    }

    private static func schema(_ extra: [PropertySchema] = []) -> RealmSchema {
        var schema = RealmSchema()
        func property(_ name: Text, _ type: PropertyType, _ collection: CollectionType = .single)
            -> PropertySchema
        {
            PropertySchema(name: name, type: type, isNullable: true, collection: collection)
        }
        schema.update(
            ClassSchema(
                name: "Order's \\ 1",
                kind: .topLevel(PrimaryKeySchema(name: "_id", type: .int, isNullable: false)),
                properties: [
                    property("s", .string), property("i", .int), property("b", .bool),
                    property("d", .double), property("f", .float), property("m", .decimal),
                    property("t", .timestamp), property("x", .binary), property("any", .mixed),
                    property("l", .string, .list), property("realm$file", .int),
                ] + extra
            )
        )
        return schema
    }

    /// Documents with the values that SQL's types do not have.
    private static let documents = [
        ##"""
        {"_id":1,"s":"x","i":5,"b":true,"d":1.5,"f":0.5,"m":"1.50",
        "t":"2026-12-11T09:08:07.123456789Z","x":"AGE=","any":7,"l":["a"]}
        """##,
        ##"""
        {"_id":2,"s":null,"i":null,"d":{"$numberDouble":"NaN:7ff8000000000001"},
        "f":{"$numberFloat":"-Infinity"},"m":"#0000000000000000abcdef",
        "t":"0000-01-01T00:00:00.000000000Z"}
        """##,
        ##"""
        {"_id":3,"s":{"$string":{"base64":"AGE="}},"d":{"$numberDouble":"-0.0"},"m":"-NaN",
        "t":"@-62135596801.5"}
        """##,
        ##"""
        {"_id":4,"i":"no number","b":"x","d":1e400,"m":"9.99E+6111",
        "t":"9999-12-31T23:59:59.999999999Z","x":"no base64!"}
        """##,
        ##"{"_id":5,"i":99999999999999999999,"d":-1e-400,"m":"1E-6176","t":"soon","s":5}"##,
    ]

    private func fill(_ store: PostgreSQLStore, _ schema: RealmSchema) async throws {
        try await store.write(.app(StoreWorld.app)) { transaction in
            for partition in [Partition.string("store \0 7"), .int(1)] {
                let file = try transaction.makeFile(of: StoreWorld.app, partition).id
                try transaction.putSchema(schema, of: file)
                for (number, document) in Self.documents.enumerated() {
                    let object = ObjectReference(
                        className: "Order's \\ 1",
                        key: .int(Int64(number + 1))
                    )
                    try transaction.putDocument(Array(document.utf8), of: object, in: file)
                }
            }
        }
    }

    private func text(_ sql: StaticString, _ connection: Connection? = nil) throws -> [String] {
        let rows = try (connection ?? world.direct).run(sql)
        return try (0..<rows.count).map { try rows.string($0, 0) }
    }

    @Test("Values that SQL does not have are NULL, and break no query")
    func values() async throws {
        let store = try await world.store()
        try await fill(store, Self.schema())
        #expect(try await AppViews(of: store).refresh(StoreWorld.app, in: "app_shop"))
        let rows = try text(
            #"""
            SELECT concat_ws('|', _id, coalesce(s, '-'), coalesce(i::text, '-'),
                coalesce(b::text, '-'), coalesce(d::text, '-'), coalesce(f::text, '-'),
                coalesce(left(m::text, 9), '-'), coalesce((t AT TIME ZONE 'UTC')::text, '-'),
                coalesce(x::text, '-'), coalesce("any"::text, '-'), coalesce(l::text, '-'))
            FROM app_shop."Order's \ 1" WHERE "realm$partition" IS NOT NULL ORDER BY _id
            """#
        )
        #expect(
            rows == [
                #"1|x|5|true|1.5|0.5|1.50|2026-12-11 09:08:07.123457|\x0061|7|["a"]"#,
                "2|-|-|-|NaN|-Infinity|-|-|-|-|-", "3|-|-|-|-0|-|NaN|-|-|-|-",
                "4|-|-|-|-|-|999000000|10000-01-01 00:00:00|-|-|-",
                "5|-|-|-|-|-|0.0000000|-|-|-|-",
            ]
        )
        // The file of the partition with U+0000 has the same rows.
        #expect(try world.count(#"SELECT count(*) FROM app_shop."Order's \ 1""#) == 10)
        let files = try world.count(
            #"SELECT count(DISTINCT "realm$file") FROM app_shop."Order's \ 1""#
        )
        #expect(files == 2)
    }

    @Test("Views follow the schema; without a change nothing is made again")
    func changes() async throws {
        let store = try await world.store()
        let views = AppViews(of: store)
        try await fill(store, Self.schema())
        let before = try await views.stamps()
        #expect(try await views.refresh(StoreWorld.app, in: "app_shop"))
        #expect(try await !views.refresh(StoreWorld.app, in: "app_shop"))
        let added = PropertySchema(name: "new", type: .string, isNullable: true)
        try await fill(store, Self.schema([added]))
        #expect(try await views.stamps() != before)
        #expect(try await views.refresh(StoreWorld.app, in: "app_shop"))
        #expect(try world.count(#"SELECT count(new) FROM app_shop."Order's \ 1""#) == 0)
    }

    @Test("A property with two types in two files is JSON")
    func conflict() {
        func schema(_ type: PropertyType) -> RealmSchema {
            Self.schema([PropertySchema(name: "p", type: type, isNullable: true)])
        }
        let views = ClassView.views(of: [schema(.int), schema(.string)])
        #expect(views.count == 1)
        let sql = views[0].sql(of: "shop", in: "v", store: "realm")
        #expect(sql.contains(#"o.document -> 'p' AS "p""#))
        #expect(sql.contains(#""realm".as_int(o.document, 'i') AS "i""#))
        #expect(views[0].columns.first?.name == "_id")
    }

    @Test("The reader's role sees views only, and cannot write; an index serves a view")
    func reader() async throws {
        let store = try await world.store()
        try await fill(store, Self.schema())
        // Roles belong to the whole server: another test may have made it.
        try world.direct.execute(
            "DO $$ BEGIN CREATE ROLE realm_reader; EXCEPTION WHEN duplicate_object THEN END $$"
        )
        try await AppViews(of: store).refresh(StoreWorld.app, in: "app_shop")
        let reader = try world.database.connect()
        try reader.execute("SET ROLE realm_reader")
        let name = #"app_shop."Order's \ 1""#
        #expect(try text(#"SELECT s FROM app_shop."Order's \ 1" WHERE _id = 1"#, reader).count == 2)
        for sql in [
            "SELECT FROM realm.object", "SELECT FROM realm.app", "DELETE FROM \(name)",
            "UPDATE \(name) SET \"realm$document\" = '{}'", "CREATE TABLE app_shop.t (n int)",
        ] {
            let error = try #require(throws: PostgreSQLError.self) { try reader.execute(sql) }
            #expect(["42501", "55000"].contains(error.sqlState ?? ""), "\(sql)")
        }
        try world.direct.execute(
            """
            CREATE INDEX ON object (file_id, as_text(document, 's'))
                WHERE class = E'Order''s \\\\ 1';
            ANALYZE
            """
        )
        try world.direct.execute("SET enable_seqscan = off")
        let plan = try world.direct.run(
            #"""
            EXPLAIN (COSTS OFF) SELECT _id FROM app_shop."Order's \ 1"
            WHERE s = 'x' AND "realm$file" = 1
            """#
        )
        let lines = try (0..<plan.count).map { try plan.string($0, 0) }.joined(separator: "\n")
        #expect(lines.contains("object_file_id_as_text_idx"), "\(lines)")
    }

    @Test("An administrator's text makes a store that a role without rights can use")
    func administrator() async throws {
        let database = try TestDatabase()
        try database.connect().execute(
            PostgreSQLLayout.sql(schema: "realm", role: "plain")
                + AppViews.administratorSQL(role: "plain", apps: ["app_shop"])
        )
        let store = try await PostgreSQLStore.open(database.target(user: "plain"))
        let app = StoreWorld.app
        try await store.write(.app(app)) { transaction in
            let file = try transaction.makeFile(of: app, .null).id
            try transaction.putSchema(StoreWorld.schema, of: file)
        }
        #expect(try await AppViews(of: store).refresh(app, in: "app_shop"))
        await store.close()
    }
}
