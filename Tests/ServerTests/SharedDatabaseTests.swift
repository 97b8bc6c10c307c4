import Changesets
import PostgreSQL
import PostgreSQLFixtures
import PostgreSQLServerStore
import ServerCluster
import ServerFixtures
import SyncProtocol
import TestSupport
import Testing
import Transport
import Versions

@testable import ServerAccounts
@testable import ServerHTTP
@testable import ServerStore
@testable import SyncServer

/// Changes by one process, and their effect on a client of another one: with the notice, and with a lost one,
/// as of a process that is killed between COMMIT and NOTIFY.
///
/// Times are printed, not asserted. The limit of a second (server on PostgreSQL, 12) is kept without any poll,
/// those of 5 and 6 seconds by the next poll, one of which is made every 5 seconds.
@Suite(
    "Processes on one database",
    .serialized,
    .timeLimit(.minutes(10)),
    .enabled(
        if: PostgreSQLInstallation.isRequiredOrPresent,
        "\(PostgreSQLInstallation.absence)"
    )
)
struct SharedDatabaseTests {
    private static let till = AppID.named("till-1")

    /// Something that clients of the other process must notice.
    enum Change: CaseIterable, CustomTestStringConvertible {
        case disabledUser
        case pause
        case rules
        case deletedApp

        var testDescription: String { "\(self)" }
    }

    enum Notice: CaseIterable, CustomTestStringConvertible {
        /// No process polls: only notices tell.
        case sent
        /// The first process never sends one, and the other polls as a server does.
        case lost

        var testDescription: String { "notice \(self)" }
    }

    /// Two processes: the first one acts, the other one has the client.
    private func withProcesses(
        _ notice: Notice,
        _ body: (SyncWorld, SyncWorld, TestDatabase) async throws -> Void
    ) async throws {
        let database = try PostgreSQLStores.database()
        try await PostgreSQLStores.withStore(in: database) { first in
            try await PostgreSQLStores.withStore(in: database) { second in
                let cluster = ClusterDatabase(database, storeID: first.storeID)
                let interval =
                    notice == .sent ? Duration.seconds(600) : ClusterBackplane.pollInterval
                let backplanes = try (0..<2).map { _ in
                    try cluster.process(pollInterval: interval)
                }
                let acting = try await TestApps(store: first, backplane: backplanes[0])
                let one = SyncWorld.process(of: acting, seed: 21)
                let declaration =
                    #"{"id":"till-1","configuration":"{\"providers\":{\"anonymous\":true}}"}"#
                #expect(await one.admin.call("POST", "apps", declaration).status == 201)
                let other = try await TestApps(store: second, backplane: backplanes[1], seed: 2)
                let two = SyncWorld.process(of: other, seed: 31)
                let running = notice == .sent ? backplanes : [backplanes[1]]
                let accounts = [acting.accounts, other.accounts]
                try await ClusterDatabase.running(
                    running,
                    following: accounts.suffix(running.count).map { accounts in
                        { await accounts.follow($0) }
                    },
                    { try await body(one, two, database) }
                )
            }
        }
    }

    private func report(_ what: String, _ notice: Notice, since start: ContinuousClock.Instant) {
        print("\(what), notice \(notice): noticed after \(ContinuousClock.now - start)")
    }

    @Test(
        "P9 What an operator changes at one process ends sessions of the other",
        arguments: Change.allCases,
        Notice.allCases
    )
    func control(_ change: Change, _ notice: Notice) async throws {
        try await withProcesses(notice) { one, two, _ in
            let user = try await two.logIn(to: Self.till)
            try await two.connect(as: user) { client in
                try await client.start()
                let start = ContinuousClock.now
                try await carryOut(change, user, at: one)
                let end = await end(of: client)
                switch change {
                case .disabledUser: #expect(end == .closed(.unauthorized, reason: "user disabled"))
                case .pause, .rules: #expect(end == .sessionFailed(200))
                case .deletedApp:
                    // A poll may find the missing user first.
                    let deletedUser = End.closed(.unauthorized, reason: "user deleted")
                    #expect([.sessionFailed(200), deletedUser].contains(end))
                }
                report("P9 \(change)", notice, since: start)
            }
        }
    }

    private func carryOut(
        _ change: Change,
        _ user: SyncWorld.LoggedIn,
        at process: SyncWorld
    ) async throws {
        let reply =
            switch change {
            case .disabledUser:
                await process.admin.call("PUT", "apps/till-1/users/\(user.user.id)/disable")
            case .pause:
                await process.admin.call("PUT", "apps/till-1/sync", #"{"state":"paused"}"#)
            case .rules:
                await process.admin.call(
                    "PUT",
                    "apps/till-1/rules/access",
                    #"{"read":"partition == 'mine'"}"#
                )
            case .deletedApp:
                await process.admin.call("DELETE", "apps/till-1?confirm=till-1")
            }
        #expect((200...204).contains(reply.status), "\(reply.text)")
    }

    private enum End: Hashable {
        case closed(CloseCode, reason: String)
        case sessionFailed(Int)
        case ended
    }

    /// The first that a client hears of the end of its session.
    private func end(of client: TestClient) async -> End {
        do {
            while let message = try await client.receive() {
                if case .jsonError(let report) = message { return .sessionFailed(report.code) }
            }
            return .ended
        } catch TransportError.closed(let code, let reason) {
            return .closed(code, reason: reason)
        } catch {
            return .ended
        }
    }

    @Test("P8 A client that comes to another process loses its connection at the first")
    func takeover() async throws {
        try await withProcesses(.sent) { one, two, _ in
            let user = try await two.logIn()
            try await two.connect(as: user) { old in
                let (file, _) = try await old.start()
                try await one.connect(as: user) { new in
                    let start = ContinuousClock.now
                    try await new.takeOver(file, from: old)
                    report("P8 older connection", .sent, since: start)
                }
            }
        }
    }

    @Test("P8 Only the newest epoch uploads, whether its process was heard or not")
    func fence() async throws {
        // Nothing tells the older session, and it does not poll in time.
        try await withProcesses(.lost) { one, two, _ in
            let user = try await two.logIn()
            try await two.connect(as: user) { old in
                let (file, _) = try await old.start()
                try await one.connect(as: user) { new in
                    try await new.bind(needsFileIdent: false)
                    try await new.ident(1, file)
                    _ = try await new.expectDownload()
                    try await old.upload([upload(2, on: 0, Tasks.addClass("Old"))])
                    // Its connection ends, by the upload or by a poll; no answer acknowledges it.
                    while let message = try? await old.receive() {
                        if case .download(let download) = message {
                            #expect(download.progress.upload.clientVersion == .zero)
                        }
                    }
                    try await new.upload([upload(2, on: 0)])
                    let upload = try await new.expectDownload().progress.upload
                    #expect(upload == uploadCursor(2, 0))
                }
            }
        }
    }

    @Test("P6 Growth at one process reaches a client of the other", arguments: Notice.allCases)
    func growth(_ notice: Notice) async throws {
        try await withProcesses(notice) { one, two, _ in
            try await two.connect { reader in
                try await reader.start()
                try await one.connect { writer in
                    try await writer.start()
                    let start = ContinuousClock.now
                    try await writer.upload([upload(2, on: 0)])
                    #expect(try await reader.expectDownload().changesets.count == 1)
                    report("P6 growth", notice, since: start)
                }
            }
        }
    }

    @Test("P6 No upload sends a notice in its transaction")
    func noNotice() async throws {
        // The first process sends none after its transactions, either.
        try await withProcesses(.lost) { one, two, database in
            var target = database.target()
            target.schema = "realm"
            let listener = try Connection(target, deadline: .after(.seconds(60)))
            let store = try listener.run("SELECT store_id::text FROM layout").string(0, 0)
            let channel = Target.quoted(Announcement.channel(ofStore: store))
            try listener.execute("LISTEN \(channel)")
            try await one.connect { writer in
                try await writer.start()
                for number in UInt64(2)..<6 {
                    try await writer.upload([
                        upload(number, on: 0, Tasks.addClass(Text("C\(number)")))
                    ])
                    _ = try await writer.expectDownload()
                }
            }
            // Notices come in the order of their commits.
            try Connection(target, deadline: .after(.seconds(60)))
                .execute("NOTIFY \(channel), 'the end'")
            var heard: [String] = []
            try await until {
                heard += try listener.notifications(until: .after(.seconds(1))).map(\.payload)
                return heard.contains("the end")
            }
            #expect(heard == ["the end"])
        }
    }

    @Test("Processes poll every 5 seconds")
    func interval() {
        #expect(ClusterBackplane.pollInterval == .seconds(5))
    }
}
