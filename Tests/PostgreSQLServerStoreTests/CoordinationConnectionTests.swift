import PostgreSQL
import PostgreSQLFixtures
import PostgreSQLServerStore
import TestSupport
import Testing
import Versions

@Suite(
    "The connection by which processes coordinate",
    .serialized,
    .enabled(
        if: PostgreSQLInstallation.isRequiredOrPresent,
        "\(PostgreSQLInstallation.absence)"
    )
)
struct CoordinationConnectionTests {
    let database: TestDatabase
    private static let storeID = "0e37df36-f698-11e6-8dd4-cb9ced3df976"

    init() throws {
        database = try TestDatabase()
    }

    /// One process: its connection, and the calls of its handlers.
    private struct Process {
        let connection: CoordinationConnection
        let heard = Shared<[Announcement]>([])
        let connected = Shared(0)
        let polls = Shared(0)
        let losses = Shared(0)

        init(
            _ target: Target,
            storeID: String = CoordinationConnectionTests.storeID,
            pollInterval: Duration = .seconds(600)
        ) throws {
            let (heard, connected, polls, losses) = (heard, connected, polls, losses)
            connection = try CoordinationConnection(
                target,
                storeID: storeID,
                pollInterval: pollInterval,
                .init(
                    connected: { connection in
                        try connection.run("SELECT 1")
                        connected.change { $0 += 1 }
                    },
                    poll: { connection in
                        try connection.run("SELECT 2")
                        polls.change { $0 += 1 }
                    },
                    heard: { announcement in heard.change { $0.append(announcement) } },
                    lost: { _ in losses.change { $0 += 1 } }
                )
            )
            #expect(connection.start())
        }

        func announce(_ file: Int64, _ version: UInt64) {
            connection.announce(.init(file: file, version: ServerVersion(version)))
        }

        /// The newest version of each file that it heard of.
        var versions: [Int64: ServerVersion] {
            var versions: [Int64: ServerVersion] = [:]
            for case .grown(let growths) in heard.value {
                for growth in growths { versions[growth.file] = growth.version }
            }
            return versions
        }
    }

    private func processes(_ count: Int, _ target: Target? = nil) async throws -> [Process] {
        let processes = try (0..<count).map { _ in try Process(target ?? database.target()) }
        try await until { processes.allSatisfy { $0.connected.value == 1 } }
        return processes
    }

    private func close(_ processes: [Process]) async {
        for process in processes { await process.connection.close() }
    }

    @Test("The others hear of growth and takeovers, the own process does not")
    func announcements() async throws {
        let processes = try await processes(3)
        processes[0].announce(7, 12)
        processes[1].connection.announceTakeover(of: FileIdent(4), in: 7, epoch: 99)
        let takeover = Announcement.takenOver(file: 7, ident: FileIdent(4), epoch: 99)
        try await until { processes[2].heard.value.count == 2 }
        try await until { processes[0].heard.value == [takeover] }
        try await until { processes[1].versions == [7: ServerVersion(12)] }
        #expect(processes[2].heard.value.contains(takeover))
        #expect(processes[2].versions == [7: ServerVersion(12)])
        #expect(processes[1].heard.value.count == 1)
        await close(processes)
    }

    @Test("10 000 growths of 500 files reach the others with far fewer notifications, newest last")
    func gathering() async throws {
        let processes = try await processes(2)
        for version in 1...20 {
            for file in 0..<500 { processes[0].announce(Int64(file), UInt64(version)) }
        }
        try await until {
            let versions = processes[1].versions
            return versions.count == 500 && versions.values.allSatisfy { $0 == ServerVersion(20) }
        }
        #expect(processes[1].heard.value.count < 1000)
        await close(processes)
    }

    @Test("Stores in one database do not hear each other")
    func stores() async throws {
        let ours = try await processes(2)
        let other = try Process(database.target(), storeID: "another")
        try await until { other.connected.value == 1 }
        other.announce(7, 99)
        ours[0].announce(7, 12)
        try await until { ours[1].versions == [7: ServerVersion(12)] }
        // All are sent in the order of their commits.
        #expect(ours[1].heard.value.count == 1)
        other.connection.announceTakeover(of: FileIdent(2), in: 7, epoch: 1)
        ours[0].announce(7, 13)
        try await until { ours[1].versions == [7: ServerVersion(13)] }
        #expect(other.heard.value == [])
        await close(ours + [other])
    }

    @Test("Texts that are not announcements are ignored")
    func otherTexts() async throws {
        let processes = try await processes(2)
        let channel = Target.quoted(Announcement.channel(ofStore: Self.storeID))
        try database.connect().execute(
            "NOTIFY \(channel), 'nonsense'; NOTIFY \(channel); NOTIFY \(channel), 'c3'"
        )
        try await until { processes.allSatisfy { $0.heard.value == [.controlled(epoch: 3)] } }
        #expect(processes.allSatisfy { $0.losses.value == 0 })
        await close(processes)
    }

    @Test("It polls at its interval, also while it hears of others")
    func polling() async throws {
        let process = try Process(database.target(), pollInterval: .milliseconds(20))
        let other = try Process(database.target())
        try await until {
            other.announce(1, 1)
            return process.polls.value >= 5
        }
        #expect(process.losses.value == 0)
        await close([process, other])
    }

    @Test("A connection that is ended is made again; growth from in between is announced then")
    func loss() async throws {
        let processes = try await processes(2)
        let server = try PostgreSQLServer()
        let away = try await self.processes(2, server.target())
        try database.connect().execute(
            """
            SELECT pg_terminate_backend(pid, 60000) FROM pg_stat_activity
            WHERE datname = current_database() AND pid <> pg_backend_pid()
            """
        )
        try await until { processes.allSatisfy { $0.connected.value == 2 } }
        processes[0].announce(1, 5)
        try await until { processes[1].versions == [1: ServerVersion(5)] }
        await close(processes)

        try server.stop(.immediate)
        try await until { away.allSatisfy { $0.losses.value >= 1 } }
        away[0].announce(1, 6)
        try server.start()
        try await until { away.allSatisfy { $0.connected.value == 2 } }
        // The listener may have come back after the announcement: that is what the poll is for.
        away[0].announce(1, 7)
        try await until { away[1].versions == [1: ServerVersion(7)] }
        await close(away)
    }

    @Test("An error of a handler ends the connection, which is made again")
    func handlerErrors() async throws {
        let calls = Shared(0)
        let losses = Shared(0)
        let connection = try CoordinationConnection(
            database.target(),
            storeID: Self.storeID,
            .init(
                connected: { _ in
                    calls.change { $0 += 1 }
                    if calls.value < 3 { throw LayoutProblem.tablesAreGone }
                },
                heard: { _ in },
                lost: { error in
                    #expect(error as? LayoutProblem == .tablesAreGone)
                    losses.change { $0 += 1 }
                }
            )
        )
        #expect(connection.start())
        try await until { calls.value == 3 }
        #expect(losses.value == 2)
        await connection.close()
    }

    @Test("It ends at once while it connects, pauses or waits")
    func end() async throws {
        let proxy = try FaultProxy(to: database.server.port)
        defer { proxy.stop() }
        proxy.arm(.silence(.toServer, after: 0))
        let start = ContinuousClock.now
        for host in [proxy.host, .network(name: "127.0.0.1", port: 1), database.server.socket] {
            let process = try Process(database.target(host))
            try await Task.sleep(for: .milliseconds(300))
            await process.connection.close()
        }
        #expect(.now - start < .seconds(20))
    }
}
