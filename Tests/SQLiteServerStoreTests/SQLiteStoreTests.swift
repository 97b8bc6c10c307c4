import Changesets
import FaultInjection
import FoundationEssentials
import SQLite
import Scopes
import ServerFixtures
import Testing
import Versions

@testable import SQLiteServerStore
@testable import ServerStore

@Suite("SQLite store: the file")
struct SQLiteStoreTests {
    private let app = AppID.named("shop-abcde")

    @Test("Writes survive a restart")
    func persistence() async throws {
        try await withTemporaryDirectory { directory in
            let path = "\(directory)/server.sqlite"
            let first = try await SQLiteStore(.file(path: path))
            let file = try await first.write { [app] in try $0.makeFile(of: app, .string("a")) }
            await first.close()
            let second = try await SQLiteStore(.file(path: path))
            let found = try await second.read { try $0.file(file.id) }
            #expect(found == file)
            await second.close()
        }
    }

    @Test("Only the owner may read it, also if its mode was wider")
    func mode() async throws {
        try await withTemporaryDirectory { directory in
            let path = "\(directory)/server.sqlite"
            #expect(FileManager.default.createFile(atPath: path, contents: nil))
            try FileManager.default.setAttributes([.posixPermissions: 0o666], ofItemAtPath: path)
            let store = try await SQLiteStore(.file(path: path))
            _ = try await store.write { [app] in try $0.makeFile(of: app, .string("a")) }
            for name in ["", "-wal", "-shm"] {
                let attributes = try FileManager.default.attributesOfItem(atPath: path + name)
                let mode = try #require(attributes[.posixPermissions] as? Int)
                #expect(mode & 0o777 == 0o600, "\(name)")
            }
            await store.close()
        }
    }

    @Test("A store that another server uses is refused by name")
    func lock() async throws {
        try await withTemporaryDirectory { directory in
            let path = "\(directory)/server.sqlite"
            let first = try await SQLiteStore(.file(path: path))
            let error = await #expect(throws: StoreError.self) {
                _ = try await SQLiteStore(.file(path: path))
            }
            #expect(error?.kind == .locked)
            #expect(error?.message == "\(path): another realm-server uses this store")
            await first.close()
        }
    }

    @Test("A file that is not a store is refused and unchanged")
    func foreignFiles() async throws {
        try await withTemporaryDirectory { directory in
            let text = "\(directory)/notes.txt"
            let bytes = Data(String(repeating: "not a database ", count: 100).utf8)
            try bytes.write(to: URL(filePath: text))
            var error = await #expect(throws: StoreError.self) {
                _ = try await SQLiteStore(.file(path: text))
            }
            #expect(error?.message == "\(text): this is not an SQLite database")
            #expect(error?.code == "store.unusable")
            #expect(try Data(contentsOf: URL(filePath: text)) == bytes)

            let other = "\(directory)/other.sqlite"
            try Connection(path: other).execute("CREATE TABLE t (a)")
            error = await #expect(throws: StoreError.self) {
                _ = try await SQLiteStore(.file(path: other))
            }
            #expect(error?.message.hasSuffix("but not a store of realm-server") == true)
        }
    }

    @Test("A store of a newer version is refused with both numbers")
    func newerLayout() async throws {
        try await withTemporaryDirectory { directory in
            let path = "\(directory)/server.sqlite"
            try await SQLiteStore(.file(path: path)).close()
            try Connection(path: path).execute("PRAGMA user_version = 99")
            let error = await #expect(throws: StoreError.self) {
                _ = try await SQLiteStore(.file(path: path))
            }
            let known = StoreLayout.version
            let problem = "layout 99, this version of realm-server knows layout \(known)"
            #expect(error?.message.contains(problem) == true)
        }
    }

    @Test("A store of an earlier layout is upgraded, beside a copy of the original")
    func olderLayout() async throws {
        try await withTemporaryDirectory { directory in
            let path = "\(directory)/server.sqlite"
            try await SQLiteStore(.file(path: path)).close()
            let database = try Connection(path: path)
            try database.execute(
                """
                DROP TABLE touched_object;
                DROP TABLE view_epoch;
                DROP TABLE view_range;
                DROP TABLE write_rejection;
                DROP INDEX client_file_of_user;
                DROP INDEX client_file_unidentified;
                ALTER TABLE client_file DROP COLUMN history_bytes;
                DROP INDEX login_session_end;
                ALTER TABLE login_session DROP COLUMN expires_at;
                INSERT INTO login_session(app_id, digest, user_id, device_id, device, created_at)
                    VALUES ('a', x'00', 'u', 'd', '{}', 1000);
                PRAGMA user_version = 3;
                """
            )
            database.close()

            for _ in 1...2 { try await SQLiteStore(.file(path: path)).close() }
            let upgraded = try Connection(path: path)
            #expect(try upgraded.integer("PRAGMA user_version") == StoreLayout.version)
            let views =
                "SELECT count(*) FROM view_epoch, view_range, write_rejection, touched_object"
            #expect(try upgraded.integer(views) == 0)
            let end = try upgraded.integer("SELECT expires_at FROM login_session")
            #expect(end == Int64(157_680_001_000))
            let kept = try Connection(path: "\(path).layout-3")
            #expect(try kept.integer("PRAGMA user_version") == 3)
            #expect(try kept.integer("SELECT count(*) FROM login_session") == 1)
            let attributes = try FileManager.default.attributesOfItem(atPath: "\(path).layout-3")
            #expect(attributes[.posixPermissions] as? Int == 0o600)
        }
    }

    /// The process dies before the n-th change of any file; every acknowledged write must be there
    /// afterwards, and the store must open.
    @Test("A crash at any write loses nothing that was acknowledged")
    func crashes() async throws {
        for change in 1...40 {
            try await withTemporaryDirectory { directory in
                let path = "\(directory)/server.sqlite"
                try await SQLiteStore(.file(path: path)).close()
                let files = FaultyFiles()
                let store = try await SQLiteStore(.file(path: path), vfs: files.name)
                files.arm(.error, at: change)
                var acknowledged: [Int64] = []
                for number in Int64(1)...12 {
                    do {
                        _ = try await store.write { [app] in try $0.makeFile(of: app, .int(number))
                        }
                        acknowledged.append(number)
                    } catch {
                        #expect(error is StoreError)
                        break
                    }
                }
                // As the next process finds it: nothing is written at closing.
                files.arm(.freeze, at: 1)
                await store.close()
                let next = try await SQLiteStore(.file(path: path))
                for number in acknowledged {
                    let file = try await next.read { [app] in try $0.file(of: app, .int(number)) }
                    #expect(file != nil, "change \(change), write \(number)")
                }
                await next.close()
            }
        }
    }

    @Test("A full disk fails only the affected writes")
    func fullDisk() async throws {
        try await withTemporaryDirectory { directory in
            let files = FaultyFiles()
            let store = try await SQLiteStore(
                .file(path: "\(directory)/server.sqlite"),
                vfs: files.name
            )
            _ = try await store.write { [app] in try $0.makeFile(of: app, .int(1)) }
            files.arm(.diskFull, at: 1)
            await #expect(throws: StoreError.self) {
                _ = try await store.write { [app] in try $0.makeFile(of: app, .int(2)) }
            }
            files.heal()
            _ = try await store.write { [app] in try $0.makeFile(of: app, .int(3)) }
            let found = try await store.read { [app] snapshot throws in
                try (1...3).map { try snapshot.file(of: app, .int($0)) != nil }
            }
            #expect(found == [true, false, true])
            await store.close()
        }
    }
}
