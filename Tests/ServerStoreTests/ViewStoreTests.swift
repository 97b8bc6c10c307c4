import Changesets
import Query
import Schemas
import Scopes
import ServerFixtures
import ServerStore
import Testing
import Versions

@Suite("Views in a store")
struct ViewStoreTests {
    private static let app = AppID.named("shop-abcde")
    private static let client = FileIdent(2)

    private func withFile(
        _ kind: StoreKind,
        _ body: (any Store, ServerFileID) async throws -> Void
    ) async throws {
        try await kind.withStore { store in
            let file = try await store.write(.app(Self.app)) { transaction in
                try transaction.makeFile(of: Self.app, .flexible).id
            }
            try await body(store, file)
        }
    }

    private static func object(_ key: Int64) -> ObjectReference {
        ObjectReference(className: "Person", key: .int(key))
    }

    private static func touch(
        _ key: Int64,
        _ version: UInt64,
        _ change: TouchedObject.Change
    ) -> TouchedObject {
        TouchedObject(object: object(key), version: ServerVersion(version), change: change)
    }

    @Test("Touched objects come back by version and by object", arguments: StoreKind.allCases)
    func touches(kind: StoreKind) async throws {
        let (old, new) = (Array(#"{"age":1}"#.utf8), Array(#"{"age":2}"#.utf8))
        let touched = [
            Self.touch(1, 1, .created(old)), Self.touch(2, 1, .created(new)),
            Self.touch(1, 2, .changed(from: old, to: new)), Self.touch(1, 3, .kept(new)),
            Self.touch(1, 4, .deleted(new)),
        ]
        try await withFile(kind) { store, file in
            try await store.write(.file(file)) { try $0.append(touched, to: file) }
            let range = try await store.read { snapshot in
                var found: [TouchedObject] = []
                try snapshot.forEachTouchedObject(
                    of: file,
                    after: ServerVersion(1),
                    upTo: ServerVersion(3)
                ) { touch in
                    found.append(touch)
                    return .next
                }
                return found
            }
            #expect(range == [touched[2], touched[3]])
            let ofOne = try await store.read {
                try $0.touches(of: Self.object(1), in: file, after: .zero)
            }
            #expect(ofOne == [touched[0], touched[2], touched[3], touched[4]])
            try await store.write(.file(file)) {
                try $0.trimHistory(of: file, upTo: ServerVersion(2))
            }
            let rest = try await store.read {
                try $0.touches(of: Self.object(1), in: file, after: .zero)
            }
            #expect(rest == [touched[3], touched[4]])
        }
    }

    /// The records of one client file.
    private struct Records: Hashable {
        var epochs: [ViewEpoch] = []
        var ranges: [ViewRange] = []
        var rejections: [RecordedRejection] = []

        init(epochs: [ViewEpoch] = [], rejections: [RecordedRejection] = []) {
            self.epochs = epochs
            self.rejections = rejections
        }

        init(
            of client: FileIdent,
            in file: ServerFileID,
            after version: ServerVersion,
            _ store: any Store
        ) async throws {
            epochs = try await store.read { try $0.viewEpochs(of: client, in: file) }
            ranges = try await store.read {
                try $0.viewRanges(of: client, in: file, after: version)
            }
            rejections = try await store.read {
                try $0.rejections(of: client, in: file, after: version)
            }
        }
    }

    @Test("Epochs, ranges and rejections of a client file", arguments: StoreKind.allCases)
    func clientRecords(kind: StoreKind) async throws {
        let epochs = (1...3).map { number in
            ViewEpoch(
                start: ServerVersion(number * 10),
                view: [UInt8(number)],
                clientVersion: ClientVersion(number)
            )
        }
        let rejections = (1...3).map { number in
            RecordedRejection(
                compensatedAt: ServerVersion(number),
                clientVersion: ClientVersion(number + 5),
                updates: [1, 2]
            )
        }
        try await withFile(kind) { store, file in
            try await store.write(.file(file)) { transaction in
                for epoch in epochs { try transaction.append(epoch, of: Self.client, in: file) }
                for rejection in rejections {
                    try transaction.append(rejection, of: Self.client, in: file)
                }
                for start in [UInt64(4), 2] {
                    let range = ViewRange(start: ServerVersion(start), end: ServerVersion(9))
                    try transaction.append(range, of: Self.client, in: file)
                }
            }
            let stored = try await Records(
                of: Self.client,
                in: file,
                after: ServerVersion(1),
                store
            )
            #expect(stored.epochs == epochs)
            // Of two ranges with one end the longer one counts.
            #expect(
                stored.ranges == [ViewRange(start: ServerVersion(2), end: ServerVersion(9))]
            )
            #expect(stored.rejections == [rejections[1], rejections[2]])
            let others = try await Records(of: FileIdent(3), in: file, after: .zero, store)
            #expect(others == Records())
            try await store.write(.file(file)) { transaction in
                try transaction.removeViewEpochs(
                    of: Self.client,
                    in: file,
                    from: .zero,
                    to: ServerVersion(19)
                )
                try transaction.removeViewRanges(
                    of: Self.client,
                    in: file,
                    upTo: ServerVersion(9)
                )
                try transaction.removeRejections(
                    of: Self.client,
                    in: file,
                    upTo: ServerVersion(2)
                )
            }
            let rest = try await Records(of: Self.client, in: file, after: .zero, store)
            #expect(
                rest == Records(epochs: [epochs[1], epochs[2]], rejections: [rejections[2]])
            )
            try await store.write(.file(file)) {
                try $0.removeClientFile(Self.client, in: file)
            }
            let left = try await Records(of: Self.client, in: file, after: .zero, store)
            #expect(left == Records())
        }
    }

    @Test("Candidates are at least the objects that match", arguments: StoreKind.allCases)
    func candidates(kind: StoreKind) async throws {
        let schema = RealmSchema([
            ClassSchema(
                name: "Person",
                kind: .topLevel(PrimaryKeySchema(name: "_id", type: .int, isNullable: false)),
                properties: [PropertySchema(name: "age", type: .int, isNullable: false)]
            )
        ])
        let queries = try ["age > 7", "age == 2"].map { text in
            try QueryChecker.check(QueryParser.parse(text), of: "Person", in: schema)
        }
        try await withFile(kind) { store, file in
            try await store.write(.file(file)) { transaction in
                for key in Int64(0)..<10 {
                    try transaction.putDocument(
                        Array(#"{"_id":\#(key),"age":\#(key)}"#.utf8),
                        of: Self.object(key),
                        in: file
                    )
                }
            }
            let found = try await store.read { snapshot in
                var keys: [ObjectKey] = []
                try snapshot.forEachCandidate(
                    for: queries,
                    of: "Person",
                    in: file,
                    after: .int(2)
                ) { key, _ in
                    keys.append(key)
                    return .next
                }
                return keys
            }
            #expect(found == [.int(8), .int(9)])
        }
    }
}
