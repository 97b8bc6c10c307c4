import Changesets
import LocalRealm
import SQLite
import Schemas
import Scopes
import Versions

/// The rows of one workload, the class that they are objects of, and the table that a program would make
/// for them without any of this.
struct Rows: Sendable {
    let schema: RealmSchema
    let bareTable: String
    let columnCount: Int
    let bind: @Sendable (Int, Statement) throws(SQLiteError) -> Void

    private static let key = PrimaryKeySchema(name: "_id", type: .objectID, isNullable: false)

    /// Ten scalars beside the key.
    static let scalars = Rows(
        schema: RealmSchema([
            ClassSchema(
                name: "Item",
                kind: .topLevel(key),
                properties: [
                    .init(name: "name", type: .string, isNullable: false),
                    .init(name: "code", type: .string, isNullable: false),
                    .init(name: "note", type: .string, isNullable: true),
                    .init(name: "count", type: .int, isNullable: false),
                    .init(name: "size", type: .int, isNullable: true),
                    .init(name: "weight", type: .double, isNullable: false),
                    .init(name: "price", type: .double, isNullable: true),
                    .init(name: "isOpen", type: .bool, isNullable: false),
                    .init(name: "madeAt", type: .timestamp, isNullable: false),
                    .init(name: "data", type: .binary, isNullable: false),
                ]
            )
        ]),
        bareTable: """
            CREATE TABLE Item(_id TEXT NOT NULL PRIMARY KEY, name TEXT, code TEXT, note TEXT,
              count INTEGER, size INTEGER, weight REAL, price REAL, isOpen INTEGER, madeAt TEXT,
              data BLOB) STRICT
            """,
        columnCount: 11
    ) { number, statement throws(SQLiteError) in
        try statement.bind(objectID(number).description, at: 1)
        try statement.bind("item number \(number)", at: 2)
        try statement.bind("code-\(number % 1000)", at: 3)
        try statement.bind("a note of some length about this item", at: 4)
        try statement.bind(Int64(number), at: 5)
        try statement.bind(Int64(number % 100), at: 6)
        try statement.bind(Double(number) / 8, at: 7)
        try statement.bind(Double(number % 10_000) / 100, at: 8)
        try statement.bind(Int64(number % 2), at: 9)
        try statement.bind("2026-03-04T05:06:07.000000000Z", at: 10)
        try statement.bind(blob: [1, 2, 3, 4, 5, 6, 7, 8], at: 11)
    }

    /// Some scalars, and one of each kind of JSON.
    static let collections = Rows(
        schema: RealmSchema([
            ClassSchema(
                name: "Item",
                kind: .topLevel(key),
                properties: [
                    .init(name: "name", type: .string, isNullable: false),
                    .init(name: "count", type: .int, isNullable: false),
                    .init(name: "weight", type: .double, isNullable: false),
                    .init(name: "madeAt", type: .timestamp, isNullable: false),
                    .init(name: "owner", type: .link(target: "Item"), isNullable: true),
                    .init(name: "tags", type: .string, isNullable: false, collection: .list),
                    .init(name: "labels", type: .string, isNullable: false, collection: .set),
                    .init(name: "sizes", type: .int, isNullable: false, collection: .dictionary),
                    .init(name: "address", type: .link(target: "Address"), isNullable: true),
                    .init(name: "extra", type: .mixed, isNullable: true),
                ]
            ),
            ClassSchema(
                name: "Address",
                kind: .embedded,
                properties: [
                    .init(name: "street", type: .string, isNullable: false),
                    .init(name: "zip", type: .int, isNullable: true),
                ]
            ),
        ]),
        bareTable: """
            CREATE TABLE Item(_id TEXT NOT NULL PRIMARY KEY, name TEXT, count INTEGER, weight REAL,
              madeAt TEXT, owner TEXT, tags TEXT, labels TEXT, sizes TEXT, address TEXT, extra TEXT)
              STRICT
            """,
        columnCount: 11
    ) { number, statement throws(SQLiteError) in
        try statement.bind(objectID(number).description, at: 1)
        try statement.bind("item number \(number)", at: 2)
        try statement.bind(Int64(number), at: 3)
        try statement.bind(Double(number) / 8, at: 4)
        try statement.bind("2026-03-04T05:06:07.000000000Z", at: 5)
        try statement.bind(objectID(number / 2).description, at: 6)
        try statement.bind(#"["red","green","blue","wet"]"#, at: 7)
        try statement.bind(#"["a","b"]"#, at: 8)
        try statement.bind(#"{"depth":3,"height":\#(number % 100)}"#, at: 9)
        try statement.bind(#"{"street":"Main \#(number % 100)","zip":1010}"#, at: 10)
        try statement.bind(#"[1,{"deep":"yes"}]"#, at: 11)
    }

    /// Scattered like the keys of many devices.
    static func objectID(_ number: Int) -> ObjectID {
        let scattered = UInt64(number) &* 0x9e37_79b9_7f4a_7c15
        let digits = Hexadecimal.text(
            of: (0..<8).map { UInt8(truncatingIfNeeded: scattered >> ($0 * 8)) }
        )
        return ObjectID(digits + "00000000") ?? .zero
    }
}

// MARK: Writing and opening

extension Rows {
    static let transactionSize = 1000

    func insert(_ objects: Int, into connection: Connection) throws {
        let parameters = (1...columnCount).map { "?\($0)" }.joined(separator: ", ")
        let statement = try connection.prepare("INSERT INTO Item VALUES (\(parameters))")
        for start in stride(from: 0, to: objects, by: Self.transactionSize) {
            try connection.transaction {
                for number in start..<min(start + Self.transactionSize, objects) {
                    try bind(number, statement)
                    try statement.run()
                }
            }
        }
    }

    func open(_ path: String, isDeclared: Bool = true) throws -> RealmFile {
        var random = SystemRandomNumberGenerator()
        return try RealmFile.open(
            LocalRealmConfiguration(
                path: path,
                owner: RealmOwner(appID: "app", userID: "user", scope: .partition(.null)),
                machineID: "here",
                schema: isDeclared ? schema : nil
            ),
            clock: { 1_772_600_767_000 },
            random: &random
        )
    }

    static func plain(_ path: String) throws -> Connection {
        let connection = try Connection(path: path)
        try connection.execute("PRAGMA journal_mode = WAL; PRAGMA synchronous = NORMAL")
        return connection
    }
}
