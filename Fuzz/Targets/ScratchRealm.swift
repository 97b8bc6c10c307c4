import Changesets
import FoundationEssentials
import Glibc
import LocalRealm
import SQLite
import Schemas
import Scopes

/// A copy of one realm file that holds a few objects, for one input; in memory if the machine has a file system there.
struct ScratchRealm {
    private let directory: String
    let path: String

    /// Nil if the disk is full.
    init?() {
        guard let template = Self.template, let directory = Self.newDirectory() else { return nil }
        self.directory = directory
        self.path = "\(directory)/realm.sqlite"
        guard (try? template.write(to: URL(filePath: path))) != nil else {
            remove()
            return nil
        }
    }

    func remove() {
        try? FileManager.default.removeItem(atPath: directory)
    }

    /// As another program opens it.
    func connect() -> Connection? { try? Connection(path: path) }

    func open() throws(LocalRealmError) -> RealmFile {
        try Self.open(path)
    }

    /// 2026-03-04T05:06:07Z.
    private static let now: Int64 = 1_772_600_767_000

    private static func open(_ path: String) throws(LocalRealmError) -> RealmFile {
        var random = ConstantNumbers()
        var configuration = LocalRealmConfiguration(
            path: path,
            owner: RealmOwner(appID: "app", userID: "user", scope: .partition(.string("x"))),
            machineID: "machine",
            schema: schema,
            options: [
                PropertyName(className: "Task", property: "views"): PropertyOptions(isCounter: true)
            ]
        )
        configuration.drainLimitInRows = 50
        configuration.changesetSizeInBytes = 4 << 10
        return try RealmFile.open(configuration, clock: { now }, random: &random)
    }

    private struct ConstantNumbers: RandomNumberGenerator {
        mutating func next() -> UInt64 { 0x0123_4567_89ab_cdef }
    }

    private static func newDirectory() -> String? {
        let parent =
            access("/dev/shm", W_OK) == 0 ? "/dev/shm" : FileManager.default.temporaryDirectory.path
        var name = Array("\(parent)/realm-fuzz-XXXXXX".utf8CString)
        guard mkdtemp(&name) != nil else { return nil }
        return String(decoding: name.dropLast().map { UInt8(bitPattern: $0) }, as: UTF8.self)
    }

    /// The bytes of a realm file with objects, uploads that wait, and an empty log.
    private static let template: Data? = {
        guard let directory = newDirectory() else { return nil }
        defer { try? FileManager.default.removeItem(atPath: directory) }
        let path = "\(directory)/realm.sqlite"
        guard let realm = try? open(path) else { return nil }
        guard let program = try? Connection(path: path) else { return nil }
        try? program.execute(objects)
        program.close()
        _ = try? realm.drain()
        realm.close()
        return try? Data(contentsOf: URL(filePath: path))
    }()

    private static let objects = """
        INSERT INTO Person(_id, name) VALUES ('kim', 'Kim'), ('lee', 'Lee');
        INSERT INTO Task(_id, title, owner, tags, labels, notes, any, home, stops)
        VALUES (1, 'one', 'kim', '["a","b"]', '[1,2]', '{"k":1}', '{"$link":{"class":"Person","key":"lee"}}',
          '{"street":"Main 1"}', '[{"street":"Quay 5"}]'), (2, 'two', NULL, '[]', '[]', '{}', '[1,{"deep":true}]', NULL, '[]');
        """

    static let schema = RealmSchema([
        ClassSchema(
            name: "Person",
            kind: .topLevel(PrimaryKeySchema(name: "_id", type: .string, isNullable: true)),
            properties: [PropertySchema(name: "name", type: .string, isNullable: false)]
        ),
        ClassSchema(
            name: "Task",
            kind: .topLevel(PrimaryKeySchema(name: "_id", type: .int, isNullable: false)),
            properties: [
                PropertySchema(name: "title", type: .string, isNullable: true),
                PropertySchema(name: "done", type: .bool, isNullable: false),
                PropertySchema(name: "views", type: .int, isNullable: false),
                PropertySchema(name: "price", type: .decimal, isNullable: true),
                PropertySchema(name: "ratio", type: .double, isNullable: true),
                PropertySchema(name: "at", type: .timestamp, isNullable: true),
                PropertySchema(name: "data", type: .binary, isNullable: true),
                PropertySchema(name: "id", type: .objectID, isNullable: true),
                PropertySchema(name: "owner", type: .link(target: "Person"), isNullable: true),
                PropertySchema(name: "any", type: .mixed, isNullable: true),
                PropertySchema(name: "tags", type: .string, isNullable: false, collection: .list),
                PropertySchema(name: "labels", type: .int, isNullable: false, collection: .set),
                PropertySchema(
                    name: "notes",
                    type: .mixed,
                    isNullable: true,
                    collection: .dictionary
                ),
                PropertySchema(
                    name: "members",
                    type: .link(target: "Person"),
                    isNullable: false,
                    collection: .list
                ),
                PropertySchema(name: "home", type: .link(target: "Address"), isNullable: true),
                PropertySchema(
                    name: "stops",
                    type: .link(target: "Address"),
                    isNullable: false,
                    collection: .list
                ),
            ]
        ),
        ClassSchema(
            name: "Address",
            kind: .embedded,
            properties: [
                PropertySchema(name: "street", type: .string, isNullable: false),
                PropertySchema(name: "zip", type: .int, isNullable: true),
            ]
        ),
    ])
}

extension Choices {
    /// Any value of SQLite: also text that is not UTF-8 would be, so blobs stand beside texts.
    mutating func value() -> SQLiteValue {
        switch byte() % 8 {
        case 0: .null
        case 1, 2: .integer(integer())
        case 3: .real(Double(bitPattern: UInt64(bitPattern: integer())))
        case 4: .real(Double(integer()))
        case 5: .blob(bytes())
        case 6: .text(element(of: Self.texts))
        default: .text(String(decoding: bytes(), as: UTF8.self))
        }
    }

    private static let texts = [
        "kim", "lee", "", "NaN", "2026-03-04T05:06:07.000000000Z",
        "9999-12-31 23:59:59.999999999+14:00",
        "5f63e882536d46e471877901", "[]", "{}", "[1,\"a\",null,[{}]]",
        "{\"$numberDecimal\":\"1E6144\"}",
        "{\"$link\":{\"class\":\"Task\",\"key\":9223372036854775807}}",
        "{\"$link\":{\"class\":\"_realm_state\",\"key\":1}}",
        "{\"street\":\"\",\"zip\":-9223372036854775808}",
        "[[[[[[[[[[[[[[[[[[[[]]]]]]]]]]]]]]]]]]]]", "\u{0}", "null", "1e400",
    ]
}
