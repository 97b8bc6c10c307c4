import FaultInjection
import Migration
import SQLiteServerStore
import ServerMigration
import ServerStore
import TestSupport
import Testing

/// Moving an app, 6.4: killed anywhere, an import is run again, and ends as if it had not been.
@Suite(
    "Imports that are interrupted",
    .enabled(if: Vectors.areRequiredOrPresent, "the golden vectors are not here")
)
struct ImportFailureTests {
    /// Several transactions for the few documents of the golden data.
    private static var options: DataImport.Options {
        var options = DataImport.Options()
        options.documentsAtOnce = 5
        return options
    }

    private static func store(_ path: String, vfs: String? = nil) async throws -> SQLiteStore {
        try await SQLiteStore(.file(path: path), vfs: vfs)
    }

    /// The contents and versions after an import that nothing interrupts, and the changes of files that it makes.
    private func undisturbed() async throws -> (
        contents: [String: String], versions: [String: UInt64], changes: Int
    ) {
        var world = try await MigrationWorld("toolshed")
        let folder = try TemporaryDirectory()
        let files = FaultyFiles()
        let path = folder.file("server.sqlite")
        // The tables are not part of the import.
        try await Self.store(path).close()
        let store = try await Self.store(path, vfs: files.name)
        files.heal()
        world.store = store
        _ = try await world.load(try world.files("dump"), Self.options)
        let changes = files.changes
        let result = (try await world.contents(), try await world.versions(), changes)
        await store.close()
        return result
    }

    @Test("A crash at any moment, and a power cut, leave a store that the next run completes")
    func crashes() async throws {
        let (contents, versions, changes) = try await undisturbed()
        try #require(changes > 20)
        for moment in stride(from: 1, through: changes, by: max(1, changes / 40)) {
            var world = try await MigrationWorld("toolshed")
            let folder = try TemporaryDirectory()
            let files = FaultyFiles()
            let path = folder.file("server.sqlite")
            try await Self.store(path).close()
            let dying = try await Self.store(path, vfs: files.name)
            world.store = dying
            files.arm(.freeze, at: moment)
            _ = try? await world.load(try world.files("dump"), Self.options)
            await dying.close()
            if moment % 2 == 0 { files.cutPower() }
            let next = try await Self.store(path)
            world.store = next
            let report = try await world.load(try world.files("dump"), Self.options).report
            #expect(report.classes.values.allSatisfy { $0.kept == 0 }, "moment \(moment)")
            #expect(try await world.contents() == contents, "moment \(moment)")
            #expect(try await world.versions() == versions, "moment \(moment)")
            let verified = try await ImportVerify(next, world.target).run(try world.files("dump"))
            #expect(verified.exitStatus == 0)
            await next.close()
        }
    }

    @Test("A full disk ends the run with an error; with room again, the next run completes it")
    func fullDisk() async throws {
        let (contents, versions, changes) = try await undisturbed()
        var errors = 0
        for moment in stride(from: 1, through: changes, by: max(1, changes / 10)) {
            var world = try await MigrationWorld("toolshed")
            let folder = try TemporaryDirectory()
            let files = FaultyFiles()
            let path = folder.file("server.sqlite")
            try await Self.store(path).close()
            let store = try await Self.store(path, vfs: files.name)
            world.store = store
            files.arm(.diskFull, at: moment)
            let sources = try world.files("dump")
            // A checkpoint may be what fails: it is done again later, and ends no run.
            do {
                _ = try await world.load(sources, Self.options)
            } catch let error as StoreError {
                #expect(error.kind == .diskFull, "moment \(moment): \(error)")
                errors += 1
            }
            files.heal()
            _ = try await world.load(sources, Self.options)
            #expect(try await world.contents() == contents)
            #expect(try await world.versions() == versions)
            await store.close()
        }
        #expect(errors >= 5)
    }
}
