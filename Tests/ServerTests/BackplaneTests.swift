import SyncProtocol
import Synchronization
import TestSupport
import Testing
import Transport
import Versions

@testable import ServerHTTP
@testable import ServerStore

/// The contract of every backplane.
@Suite("Backplane", .timeLimit(.minutes(5)))
struct BackplaneTests {
    private static let client = ClientFileID(file: ServerFileID(7), ident: FileIdent(3))

    @Test("Every process hears every message, its own too", arguments: BackplaneKind.allCases)
    func everyMessage(kind: BackplaneKind) async throws {
        try await kind.withProcesses(3) { processes in
            let ears = processes.map { _ in Ear() }
            for (process, ear) in zip(processes, ears) { process.join(ear) }
            processes[0].announce(ServerVersion(5), of: ServerFileID(7))
            processes[1].takeOver(Self.client, epoch: 9)
            let orders: [(ConnectionAudience, ConnectionOrder)] = [
                (.app(TestApps.shop), .pause), (.client(Self.client), .rebind),
                (.user(UserID("u"), of: TestApps.shop), .leave(reason: "user disabled")),
                (.session(SessionDigest(bytes: [1, 2]), of: TestApps.office), .leave(reason: "")),
            ]
            for (audience, order) in orders { processes[2].control(audience, order) }
            let messages: [BackplaneMessage] =
                [
                    .growth(of: ServerFileID(7), to: ServerVersion(5)),
                    .takeover(of: Self.client, epoch: 9),
                ] + orders.map { .control($0, $1) }
            for ear in ears {
                try await until { Set(ear.heard) == Set(messages) }
                // Messages of one sender arrive in order.
                let heard = ear.heard.filter { if case .control = $0 { true } else { false } }
                #expect(heard == orders.map { .control($0, $1) })
            }
        }
    }

    @Test("A process that has left hears nothing more", arguments: BackplaneKind.allCases)
    func leaving(kind: BackplaneKind) async throws {
        try await kind.withProcesses(2) { processes in
            let (here, there) = (Ear(), Ear())
            processes[0].join(here)
            processes[1].join(there)
            processes[0].leave(here)
            processes[1].takeOver(Self.client, epoch: 1)
            try await until { !there.heard.isEmpty }
            #expect(here.heard.isEmpty)
            #expect(
                await processes[0].ask(TestApps.shop)
                    == ConnectionCounts(connections: 2, sessions: 1)
            )
        }
    }

    @Test("Counts are those of all processes", arguments: BackplaneKind.allCases)
    func counts(kind: BackplaneKind) async throws {
        try await kind.withProcesses(3) { processes in
            let ears = processes.map { _ in Ear() }
            for (process, ear) in zip(processes, ears) { process.join(ear) }
            for process in processes {
                #expect(
                    await process.ask(TestApps.shop)
                        == ConnectionCounts(connections: 6, sessions: 3)
                )
                #expect(await process.ask(TestApps.office) == ConnectionCounts())
            }
        }
    }

    /// Keeps what it hears; it has two connections and one session of one app.
    private final class Ear: BackplaneParticipant {
        private let messages = Mutex<[BackplaneMessage]>([])

        var heard: [BackplaneMessage] { messages.withLock(\.self) }

        func receive(_ message: BackplaneMessage) {
            messages.withLock { $0.append(message) }
        }

        func counts(of app: AppID) -> ConnectionCounts {
            app == TestApps.shop
                ? ConnectionCounts(connections: 2, sessions: 1) : ConnectionCounts()
        }
    }
}

/// Two services on one store and one backplane: what a client does at one concerns clients of the
/// other.
@Suite("Two processes", .timeLimit(.minutes(5)))
struct TwoProcessTests {
    @Test("What a client uploads at one process reaches a client of the other")
    func growth() async throws {
        try await SyncWorld.with(.memory) { one in
            let other = one.otherProcess()
            try await one.connect { writer in
                let (file, _) = try await writer.start()
                try await other.connect { reader in
                    try await reader.start()
                    try await writer.upload([upload(2, on: 0)])
                    let download = try await reader.expectDownload()
                    #expect(download.changesets.map(\.originFileIdent) == [file.ident])
                }
            }
        }
    }

    @Test("A client that comes to another process loses its connection at the first")
    func takeover() async throws {
        try await SyncWorld.with(.memory) { one in
            let other = one.otherProcess()
            let user = try await one.logIn()
            try await one.connect(as: user) { old in
                let (file, _) = try await old.start()
                try await other.connect(as: user) { new in
                    try await new.bind(needsFileIdent: false)
                    try await new.ident(1, file)
                    _ = try await new.expectDownload()
                    #expect(try await old.receive() == nil)
                    try await new.upload([upload(2, on: 0)])
                    #expect(try await new.expectDownload().progress.upload == uploadCursor(2, 0))
                }
            }
        }
    }

    @Test("An operator's call at one process ends connections of the other, and counts them")
    func control() async throws {
        try await SyncWorld.with(.memory) { one in
            let other = one.otherProcess()
            let user = try await one.logIn()
            try await other.connect(as: user) { client in
                try await client.start()
                let report = try await one.admin.call("GET", "apps/shop-abcde/sync")
                    .decode(AppSyncReport.self)
                #expect(report.connections == 1)
                #expect(report.sessions == 1)
                await one.admin.call("PUT", "apps/shop-abcde/users/\(user.user.id)/disable")
                let error = await #expect(throws: TransportError.self) {
                    while try await client.receive() != nil {}
                }
                #expect(error == .closed(.unauthorized, reason: "user disabled"))
            }
        }
    }
}
