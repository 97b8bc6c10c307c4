import Agent
import Config
import Control
import FaultInjection
import FoundationEssentials
import Glibc
import Platform
import TestSupport
import Testing

/// Client reset, 12: one client reset after the other, each by an agent that dies or runs out of disk
/// somewhere between capturing what was written and proving the reset, in whichever of its files.
@Suite("Client resets cut short, with real processes", .serialized, .timeLimit(.minutes(30)))
struct ResetCrashTests {
    /// The seeds; `REALM_SEEDS` sets their number, `REALM_FIRST_SEED` skips those before it.
    private static func seeds(_ count: Int) -> Range<Int> {
        let environment = ProcessInfo.processInfo.environment
        let end = environment["REALM_SEEDS"].flatMap(Int.init) ?? count
        let first = environment["REALM_FIRST_SEED"].flatMap(Int.init) ?? 0
        return min(first, end)..<end
    }

    private static let schema = """
        classes:
          Item:
            primary_key: _id
            properties:
              _id: int
              note: string?
              amount: { type: int, counter: true, default: 0 }
              tags: list<string>
        """

    /// A synchronised realm whose server has forgotten it, to be gone back to again and again.
    private struct Forgotten {
        let world: ResetWorld
        private(set) var written = 0

        private static let files = ["private/metadata.sqlite", "realms/stock/stock.sqlite"]

        init(_ world: ResetWorld) { self.world = world }

        /// With the server running.
        func prepare() async throws {
            let deployment = world.deployment
            #expect(try await deployment.sync("north").status == 0)
            let rows = (1...40).map { "(\($0), 'row \($0)')" }.joined(separator: ", ")
            try await world.write("INSERT INTO Item(_id, note) VALUES \(rows);", on: "north")
            #expect(try await deployment.sync("north").status == 0)
            try await world.terminateSync()
            for file in Self.files {
                try await Programs.sqlite3(
                    "\(deployment.directory)/north/\(file)",
                    "PRAGMA wal_checkpoint(TRUNCATE);"
                )
            }
            try await world.copy("north", to: "saved")
        }

        /// The realm as it was when the server forgot it, in the same file, with other writes.
        mutating func goBack() async throws {
            let directory = world.deployment.directory
            for file in Self.files {
                let path = "\(directory)/north/\(file)"
                for suffix in ["-wal", "-shm", ".fresh", ".fresh-wal", ".fresh-shm"] {
                    unlink(path + suffix)
                }
                // Written over: a new file would be taken for a copy.
                let outcome = try await Programs.run("cp", ["\(directory)/saved/\(file)", path])
                #expect(outcome.status == 0, "\(outcome.errors)")
            }
            written += 1
            try await world.write(
                """
                INSERT INTO Item(_id, note) VALUES (\(1000 + written), 'new');
                UPDATE Item SET amount = amount + 1,
                  tags = json_insert(tags, '$[#]', 'tag \(written)') WHERE _id = 1;
                DELETE FROM Item WHERE _id = 40;
                """,
                on: "north"
            )
        }

        /// Everything that was ever written is there, once.
        func check(on agent: String, _ comment: String) async throws {
            let rows = try await Programs.sqlite3(
                world.deployment.file(agent),
                """
                PRAGMA integrity_check;
                SELECT count(*), min(_id), max(_id) FROM Item WHERE _id > 1000;
                SELECT count(*) FROM Item WHERE _id <= 1000;
                SELECT amount, json_array_length(tags),
                  (SELECT count(DISTINCT value) FROM json_each(tags)) FROM Item WHERE _id = 1;
                SELECT count(*) FROM _realm_capture;
                SELECT count(*) FROM _realm_reset;
                """
            )
            let expected = """
                ok
                \(written)|1001|\(1000 + written)
                39
                \(written)|\(written)|\(written)
                0
                0

                """
            #expect(rows == expected, "\(comment)")
            #expect(!world.exists(world.deployment.file(agent) + ".fresh"), "\(comment)")
        }
    }

    /// The agent of the configuration, syncing once in this process.
    static func sync(_ file: String, timeout: Duration) async throws -> SyncReport? {
        let loaded = AgentConfigurationLoader(mainFile: file).load()
        guard let configuration = loaded.configuration else { return nil }
        let service = try AgentService.prepare(
            configuration,
            version: "1",
            log: AgentLog(configuration.daemon.log, atLeast: .off),
            servesControl: false
        )
        return await service.syncOnce(realms: ["stock"], timeout: timeout).first
    }

    private func with(_ body: (inout Forgotten) async throws -> Void) async throws {
        let world = try ResetWorld()
        defer { world.remove() }
        try world.deployment.write("schema.yaml", Self.schema)
        try world.configure("north")
        try world.configure("south")
        try await world.deployment.withServer { _ in
            var forgotten = Forgotten(world)
            try await forgotten.prepare()
            try await body(&forgotten)
            // The server has what the last realm has.
            #expect(try await world.deployment.sync("south").status == 0)
            try await forgotten.check(on: "south", "another agent")
        }
    }

    /// Lets the agent do the whole reset in a process of its own, which dies at a change of a file, or
    /// at the end; the number of changes goes to a file.
    private func runToItsDeath(
        _ configuration: String,
        _ count: String,
        at change: Int,
        isTorn: Bool
    ) async {
        await #expect(processExitsWith: .signal(SIGKILL)) {
            [
                configuration = configuration as String, count = count as String,
                change = change as Int, isTorn = isTorn as Bool
            ] in
            let files = FaultyFiles(isDefault: true)
            if change > 0 { files.arm(isTorn ? .tornKill : .kill, at: change) }
            _ = try await ResetCrashTests.sync(configuration, timeout: .seconds(180))
            try Data("\(files.changes)".utf8).write(to: URL(filePath: count))
            Glibc.kill(getpid(), SIGKILL)
        }
    }

    @Test("Killed between any two writes, the next start finishes: nothing twice, nothing lost")
    func killed() async throws {
        try await with { forgotten in
            let world = forgotten.world
            let directory = world.deployment.directory
            let (configuration, count) = ("\(directory)/north.yaml", "\(directory)/count")
            try await forgotten.goBack()
            await runToItsDeath(configuration, count, at: 0, isTorn: false)
            #expect(try await world.deployment.sync("north").status == 0)
            try await forgotten.check(on: "north", "without a fault")
            let changes = try #require(Int(world.text("count")))
            #expect(changes > 50)

            var struck = 0
            for seed in Self.seeds(6) {
                var random = SplitMix64(seed: UInt64(seed))
                let change = Int.random(in: 1...changes, using: &random)
                unlink(count)
                try await forgotten.goBack()
                await runToItsDeath(
                    configuration,
                    count,
                    at: change,
                    isTorn: Bool.random(using: &random)
                )
                if !world.exists(count) { struck += 1 }
                let sync = try await world.deployment.sync("north")
                let comment = "seed \(seed), killed at change \(change) of about \(changes)"
                #expect(sync.status == 0, "\(comment): \(sync.errors)")
                try await forgotten.check(on: "north", comment)
            }
            print("resets killed: \(struck) at one of about \(changes) changes of files each")
            #expect(struck > 0)
        }
    }

    @Test(
        "With a full disk at any write, it continues once there is space; nothing twice or lost"
    )
    func diskFull() async throws {
        try await with { forgotten in
            let world = forgotten.world
            let configuration = "\(world.deployment.directory)/north.yaml"
            for seed in Self.seeds(4) {
                var random = SplitMix64(seed: UInt64(1_000_000 + seed))
                let change = Int.random(in: 1...120, using: &random)
                try await forgotten.goBack()
                await #expect(processExitsWith: .success) {
                    [configuration = configuration as String, change = change as Int] in
                    let files = FaultyFiles(isDefault: true)
                    files.arm(.diskFull, at: change)
                    // The file of the agent's own may be what cannot be written.
                    _ = try? await ResetCrashTests.sync(configuration, timeout: .milliseconds(700))
                    files.heal()
                    let report = try await ResetCrashTests.sync(
                        configuration,
                        timeout: .seconds(180)
                    )
                    exit(report?.outcome == .done ? 0 : 1)
                }
                try await forgotten.check(on: "north", "seed \(seed), full at change \(change)")
            }
        }
    }
}
