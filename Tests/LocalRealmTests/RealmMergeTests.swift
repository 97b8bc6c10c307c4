import Changesets
import LocalRealm
import SQLite
import Schemas
import TestSupport
import Testing

@Suite("Realms merged into others (features, C9)")
struct RealmMergeTests {
    private func kind(_ body: () throws -> Void) -> LocalRealmError.Kind? {
        do { try body() } catch { return (error as? LocalRealmError)?.kind }
        return nil
    }

    @Test("Objects of every kind are merged unchanged, and other objects of the destination stay")
    func everything() throws {
        for seed in Seeds.some(10) {
            var world = RandomWorld(seed: seed, .whole)
            let source = try RealmFixture(world.schema)
            for _ in 0..<20 { try world.write(to: source) }
            _ = try source.realm.drain()
            let expected = try TableContents(world.schema, source.connect())

            // Into an empty file, into an older state of the same, and once more.
            let empty = try RealmFixture(world.schema)
            let report = try RealmMerge(from: source.path).merge(into: empty.path)
            #expect(report.objectCount > 0)
            #expect(try TableContents(world.schema, empty.connect()) == expected, "seed \(seed)")
            _ = try empty.realm.drain()
            let version = empty.realm.status.localVersion
            for _ in 0..<5 { try world.write(to: empty) }
            _ = try empty.realm.drain()
            _ = try RealmMerge(from: source.path).merge(into: empty.path)
            let contents = try TableContents(world.schema, empty.connect())
            #expect(empty.realm.status.localVersion > version)
            _ = try RealmMerge(from: source.path).merge(into: empty.path)
            #expect(try TableContents(world.schema, empty.connect()) == contents)
        }
    }

    @Test("Changes are uploaded, equal values are not")
    func upload() throws {
        let source = try RealmFixture(.notes)
        try source.connect().execute("INSERT INTO Note VALUES (1, 'one'), (2, 'two')")
        let server = ServerModel()
        let destination = try RealmFixture(.notes)
        try destination.realm.storeFileIdent(server.register())
        try destination.connect().execute(
            "INSERT INTO Note VALUES (1, 'uno'), (2, 'two'), (3, 'tres')"
        )
        try destination.exchange(with: server)
        let before = destination.realm.status.uploadableBytes
        let report = try RealmMerge(from: source.path).merge(into: destination.path)
        #expect(report.objectCount == 2)
        let rows = try destination.connect().rows("SELECT * FROM Note ORDER BY 1")
        #expect(rows == [[1, "one"], [2, "two"], [3, "tres"]])
        _ = try destination.realm.drain()
        let bytes = destination.realm.status.uploadableBytes
        #expect(bytes > before)
        _ = try RealmMerge(from: source.path).merge(into: destination.path)
        _ = try destination.realm.drain()
        #expect(destination.realm.status.uploadableBytes == bytes)
    }

    @Test("Different classes, the same file, and files that are not realms are refused as a whole")
    func refusals() throws {
        let source = try RealmFixture(.notes)
        try source.connect().execute("INSERT INTO Note VALUES (1, 'one')")
        let merge = RealmMerge(from: source.path)
        #expect(kind { _ = try merge.merge(into: source.path) } == .fileExists)
        let other = try RealmFixture(.everything)
        #expect(kind { _ = try merge.merge(into: other.path) } == .schemaConflict)
        let absent = source.directory.file("absent.sqlite")
        #expect(kind { _ = try merge.merge(into: absent) } == .cannotOpen)
        #expect(kind { _ = try RealmMerge(from: absent).merge(into: source.path) } == .cannotOpen)
        #expect(try other.connect().integer("SELECT count(*) FROM _realm_capture") == 0)
    }
}
