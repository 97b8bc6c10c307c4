import Changesets
import FoundationEssentials
import JSON
import Schemas
import Scopes
import ServerFixtures
import Testing
import Versions

@testable import ServerStore

@Suite("Store: server files")
struct FileStoreTests {
    private let app = AppID.named("shop-abcde")

    private func entry(
        _ version: UInt64,
        origin: UInt64 = 2,
        recipient: FileIdent? = nil,
        _ changeset: [UInt8] = [1, 2, 3]
    ) -> HistoryEntry {
        HistoryEntry(
            version: SaltedServerVersion(
                version: ServerVersion(version),
                salt: Salt(900 + version)
            ),
            origin: FileIdent(origin),
            clientVersion: ClientVersion(version + 1),
            timestamp: OriginTimestamp(1000 + version),
            changeset: changeset,
            cumulativeSizeInBytes: version * 3,
            recipient: recipient
        )
    }

    /// Stores keep a document's value, not its spelling.
    private func value(_ document: [UInt8]) throws -> JSONValue {
        try JSONDecoder().decode(JSONValue.self, from: Data(document))
    }

    @Test("A partition has one file under all its spellings", arguments: StoreKind.allCases)
    func partitions(kind: StoreKind) async throws {
        try await kind.withStore { store in
            let five = try #require(Partition(extendedJSON: Array("{\"$numberInt\":\"5\"}".utf8)))
            let file = try await store.write { [app] in try $0.makeFile(of: app, five) }
            let again = try await store.write { [app] in try $0.makeFile(of: app, .int(5)) }
            let other = try await store.write { [app] in try $0.makeFile(of: app, .string("5")) }
            #expect(file == again)
            #expect(file.id != other.id)
            #expect(file.currentVersion == .zero)
            try await store.read { [app] snapshot throws in
                #expect(try snapshot.file(of: app, .int(5)) == file)
                #expect(try snapshot.file(of: app, .null) == nil)
                #expect(try snapshot.file(of: AppID.named("other"), .int(5)) == nil)
            }
        }
    }

    @Test("An object is found by a text in one of its properties", arguments: StoreKind.allCases)
    func search(kind: StoreKind) async throws {
        try await kind.withStore { store in
            let found = try await store.write { [app] transaction in
                let file = try transaction.makeFile(of: app, .null).id
                let other = try transaction.makeFile(of: app, .int(1)).id
                func put(_ className: Text, _ key: Int64, _ text: String, _ file: ServerFileID)
                    throws
                {
                    let object = ObjectReference(className: className, key: .int(key))
                    try transaction.putDocument(Array(text.utf8), of: object, in: file)
                }
                try put("A", 1, #"{"user":"ann","list":["bob"]}"#, file)
                try put("A", 2, #"{"user":"bob","note":"ann"}"#, file)
                try put("A", 3, #"{"$.user":"eve","user":{"user":"eve"}}"#, file)
                try put("B", 4, #"{"user":"cid"}"#, file)
                try put("A", 5, #"{"user":"dan"}"#, other)
                return try ["ann", "bob", "cid", "dan", "eve", ""].map { text in
                    try transaction.document(of: "A", whose: "user", is: Text(text), in: file)?.0
                }
            }
            #expect(found == [.int(1), .int(2), nil, nil, nil, nil])
        }
    }

    @Test(
        "A held state does not change during writes",
        arguments: StoreKind.allCases
    )
    func heldStates(kind: StoreKind) async throws {
        try await kind.withStore { store in
            let file = try await store.write { [app] in try $0.makeFile(of: app, .null).id }
            @Sendable func put(_ key: Int64, _ text: String) async throws {
                try await store.write { transaction in
                    try transaction.putDocument(
                        Array(text.utf8),
                        of: ObjectReference(className: "A", key: .int(key)),
                        in: file
                    )
                }
            }
            for key in 1...5 { try await put(Int64(key), "{\"old\":\(key)}") }
            try await store.holdingState { held in
                var keys: [ObjectKey] = []
                // One object at a time, with a write and another read between any two.
                while true {
                    let next = try await held.read { [last = keys.last] snapshot in
                        var found: (ObjectKey, [UInt8])?
                        try snapshot.forEachDocument(of: "A", in: file, after: last) {
                            key,
                            json throws(StoreError) in
                            found = (key, json)
                            return .stop
                        }
                        return found
                    }
                    guard let (key, json) = next else { break }
                    #expect(String(decoding: json, as: UTF8.self).contains("old"))
                    keys.append(key)
                    for key in 1...9 { try await put(Int64(key), "{\"new\":true}") }
                    let count = try await store.read { try $0.objectCounts(in: file)["A"] }
                    #expect(count == 9)
                }
                #expect(Set(keys) == Set((1...5).map { .int($0) }))
            }
            // It is given back, also by a body that fails.
            await #expect(throws: StoreError.self) {
                try await store.holdingState { _ in throw StoreError(.failed, "as the test wants") }
            }
            let count = try await store.holdingState { held in
                try await held.read { try $0.objectCounts(in: file)["A"] }
            }
            #expect(count == 9)
        }
    }

    @Test("File idents start at 2 and count up in each file", arguments: StoreKind.allCases)
    func idents(kind: StoreKind) async throws {
        try await kind.withStore { store in
            try await store.write { [app] transaction throws in
                let first = try transaction.makeFile(of: app, .string("a")).id
                let second = try transaction.makeFile(of: app, .string("b")).id
                #expect(try transaction.takeFileIdent(in: first) == FileIdent(2))
                #expect(try transaction.takeFileIdent(in: first) == FileIdent(3))
                #expect(try transaction.takeFileIdent(in: second) == FileIdent(2))
            }
        }
    }

    @Test("A client file is kept field by field", arguments: StoreKind.allCases)
    func clientFiles(kind: StoreKind) async throws {
        try await kind.withStore { store in
            try await store.write { [app] transaction throws in
                let file = try transaction.makeFile(of: app, .string("a")).id
                var client = ClientFile(
                    ident: FileIdent(2),
                    salt: Salt(UInt64(Int64.max)),
                    owner: UserID("ann"),
                    generation: 3,
                    lastSeenAt: 5
                )
                try transaction.put(client, in: file)
                #expect(try transaction.clientFile(FileIdent(2), in: file) == client)
                client.upload = UploadCursor(
                    clientVersion: ClientVersion(7),
                    lastIntegratedServerVersion: ServerVersion(4)
                )
                client.lockedServerVersion = ServerVersion(3)
                client.isExpired = true
                client.sessionEpoch = 9
                client.lastSeenAt = 6
                try transaction.put(client, in: file)
                #expect(try transaction.clientFile(FileIdent(2), in: file) == client)
                #expect(try transaction.clientFile(FileIdent(3), in: file) == nil)
            }
        }
    }

    @Test(
        "History is read in order, own entries without their bytes",
        arguments: StoreKind.allCases
    )
    func history(kind: StoreKind) async throws {
        try await kind.withStore { store in
            let file = try await store.write { [app] transaction throws in
                let file = try transaction.makeFile(of: app, .string("a")).id
                try transaction.append([entry(1)], to: file)
                try transaction.append([entry(2, origin: 3)], to: file)
                try transaction.append([entry(3, [])], to: file)
                return file
            }
            try await store.read { snapshot throws in
                let stored = try #require(try snapshot.file(file))
                #expect(stored.currentVersion == ServerVersion(3))
                #expect(stored.historySizeInBytes == 9)

                var seen: [HistoryEntry] = []
                try snapshot.forEachEntry(of: file, after: .zero, readBy: FileIdent(2)) {
                    entry throws(StoreError) in
                    seen.append(entry)
                    return .next
                }
                #expect(seen == [entry(1, []), entry(2, origin: 3), entry(3, [])])

                seen = []
                try snapshot.forEachEntry(of: file, after: ServerVersion(1), readBy: .none) {
                    entry throws(StoreError) in
                    seen.append(entry)
                    return .stop
                }
                #expect(seen == [entry(2, origin: 3)])
                #expect(try snapshot.salt(of: ServerVersion(2), in: file) == Salt(902))
                #expect(try snapshot.salt(of: ServerVersion(4), in: file) == nil)
            }
        }
    }

    @Test(
        "The size of others' entries leaves out a client's own and those for another client",
        arguments: StoreKind.allCases
    )
    func sizeOfOthers(kind: StoreKind) async throws {
        try await kind.withStore { store in
            let file = try await store.write { [app] transaction throws in
                let file = try transaction.makeFile(of: app, .string("a")).id
                try transaction.append(
                    [
                        entry(1), entry(2, origin: 3), entry(3, [1]),
                        entry(4, origin: 0, recipient: FileIdent(3), [1, 2]), entry(5),
                    ],
                    to: file
                )
                return file
            }
            try await store.read { snapshot throws in
                func size(_ client: UInt64, after version: UInt64 = 0, limit: UInt64 = 100) throws
                    -> UInt64
                {
                    try snapshot.sizeOfOthers(
                        of: file,
                        after: ServerVersion(version),
                        for: FileIdent(client),
                        limit: limit
                    )
                }
                #expect(try size(2) == 3)
                #expect(try size(3) == 9)
                #expect(try size(4) == 10)
                #expect(try size(4, after: 2) == 4)
                #expect(try size(4, after: 5) == 0)
                #expect(try size(4, limit: 3) == 6)
            }
        }
    }

    @Test("A version is never given twice", arguments: StoreKind.allCases)
    func versionsAreUnique(kind: StoreKind) async throws {
        try await kind.withStore { store in
            let file = try await store.write { [app] transaction throws in
                let file = try transaction.makeFile(of: app, .string("a")).id
                try transaction.append([entry(1)], to: file)
                return file
            }
            await #expect(throws: StoreError.self) {
                try await store.write { try $0.append([entry(1)], to: file) }
            }
        }
    }

    @Test("An empty reciprocal is a reciprocal", arguments: StoreKind.allCases)
    func reciprocals(kind: StoreKind) async throws {
        try await kind.withStore { store in
            try await store.write { [app] transaction throws in
                let file = try transaction.makeFile(of: app, .string("a")).id
                let ident = FileIdent(2)
                try transaction.putReciprocal([1], of: ServerVersion(1), for: ident, in: file)
                try transaction.putReciprocal([9], of: ServerVersion(2), for: ident, in: file)
                try transaction.putReciprocal([], of: ServerVersion(2), for: ident, in: file)
                try transaction.putReciprocal(
                    [7],
                    of: ServerVersion(2),
                    for: FileIdent(3),
                    in: file
                )
                #expect(
                    try transaction.reciprocals(for: ident, in: file, after: .zero)
                        == [ServerVersion(1): [1], ServerVersion(2): []]
                )
                try transaction.removeReciprocals(for: ident, in: file, upTo: ServerVersion(1))
                #expect(
                    try transaction.reciprocals(for: ident, in: file, after: .zero)
                        == [ServerVersion(2): []]
                )
                #expect(
                    try transaction.reciprocals(for: FileIdent(3), in: file, after: .zero).count
                        == 1
                )
            }
        }
    }

    @Test("Documents are found by class and key of every type", arguments: StoreKind.allCases)
    func documents(kind: StoreKind) async throws {
        let keys: [ObjectKey] = [
            .null, .int(-1), .int(1), .string(""), .string("x"), .string(Text(bytes: [0, 255])),
            .objectID(.zero), .uuid(.zero), .globalKey(GlobalKey(high: 2, low: 1)),
        ]
        try await kind.withStore { store in
            try await store.write { [app] transaction throws in
                let file = try transaction.makeFile(of: app, .string("a")).id
                let other = try transaction.makeFile(of: app, .string("b")).id
                for (index, key) in keys.enumerated() {
                    let object = ObjectReference(className: "Task", key: key)
                    try transaction.putDocument(Array("{\"n\":0}".utf8), of: object, in: file)
                    try transaction.putDocument(
                        Array("{\"n\":\(index)}".utf8),
                        of: object,
                        in: file
                    )
                }
                for (index, key) in keys.enumerated() {
                    let object = ObjectReference(className: "Task", key: key)
                    let document = try #require(try transaction.document(object, in: file))
                    #expect(try value(document) == .object(["n": .integer(Int64(index))]))
                    #expect(try transaction.document(object, in: other) == nil)
                }
                var found: Set<ObjectKey> = []
                try transaction.forEachDocument(of: "Task", in: file) {
                    key,
                    _ throws(StoreError) in
                    found.insert(key)
                    return .next
                }
                #expect(found == Set(keys))
                let null = ObjectReference(className: "Task", key: .null)
                try transaction.removeDocument(null, in: file)
                #expect(try transaction.document(null, in: file) == nil)
                try transaction.removeDocuments(ofClass: "Task", in: file)
                let one = ObjectReference(className: "Task", key: .int(1))
                #expect(try transaction.document(one, in: file) == nil)
            }
        }
    }

    @Test(
        "A schema comes back with every kind of class and property",
        arguments: StoreKind.allCases
    )
    func schemas(kind: StoreKind) async throws {
        var schema = RealmSchema()
        let key = PrimaryKeySchema(name: "_id", type: .objectID, isNullable: true)
        schema.update(ClassSchema(name: "Address", kind: .embedded))
        schema.update(
            ClassSchema(
                name: "Task",
                kind: .topLevel(key),
                properties: [
                    PropertySchema(
                        name: "tags",
                        type: .string,
                        isNullable: false,
                        collection: .list
                    ),
                    PropertySchema(name: "place", type: .link(target: "Address"), isNullable: true),
                    PropertySchema(name: "extra", type: .mixed, isNullable: true),
                    PropertySchema(
                        name: "map",
                        type: .double,
                        isNullable: true,
                        collection: .dictionary
                    ),
                ]
            )
        )
        schema.update(ClassSchema(name: "Tick", kind: .asymmetric(key)))
        let expected = schema
        try await kind.withStore { store in
            try await store.write { [app] transaction throws in
                let file = try transaction.makeFile(of: app, .string("a")).id
                #expect(try transaction.schema(of: file) == RealmSchema())
                try transaction.putSchema(expected, of: file)
                let stored = try transaction.schema(of: file)
                #expect(Set(stored.classes) == Set(expected.classes))
            }
        }
    }
}
