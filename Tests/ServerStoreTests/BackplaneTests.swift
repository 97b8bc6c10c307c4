import ServerFixtures
import Synchronization
import TestSupport
import Testing
import Versions

@testable import ServerStore

/// The contract of every backplane.
@Suite("Backplane", .timeLimit(.minutes(5)))
struct BackplaneTests {
    private static let shop = AppID.named("shop-abcde")
    private static let office = AppID.named("office-fghij")
    private static let client = ClientFileID(file: ServerFileID(7), ident: FileIdent(3))

    @Test("Every process hears every message, its own too", arguments: BackplaneKind.here)
    func everyMessage(kind: BackplaneKind) async throws {
        try await kind.withProcesses(3) { processes in
            let ears = processes.map { _ in Ear() }
            for (process, ear) in zip(processes, ears) { process.join(ear) }
            processes[0].announce(ServerVersion(5), of: ServerFileID(7))
            processes[1].takeOver(Self.client, epoch: 9)
            let orders: [(ConnectionAudience, ConnectionOrder)] = [
                (.app(Self.shop), .pause), (.client(Self.client), .rebind),
                (.user(UserID("u"), of: Self.shop), .leave(reason: "user disabled")),
                (.session(SessionDigest(bytes: [1, 2]), of: Self.office), .leave(reason: "")),
            ]
            for (audience, order) in orders { processes[2].control(audience, order) }
            processes[2].changed(Self.office)
            let messages: [BackplaneMessage] =
                [
                    .growth(of: ServerFileID(7), to: ServerVersion(5)),
                    .takeover(of: Self.client, epoch: 9),
                ] + orders.map { .control($0, $1) } + [.changed(Self.office)]
            for ear in ears {
                try await until { Set(ear.heard) == Set(messages) }
                // Messages of one sender arrive in order.
                let heard = ear.heard.filter { if case .control = $0 { true } else { false } }
                #expect(heard == orders.map { .control($0, $1) })
            }
        }
    }

    @Test("A process that has left hears nothing more", arguments: BackplaneKind.here)
    func leaving(kind: BackplaneKind) async throws {
        try await kind.withProcesses(2) { processes in
            let (here, there) = (Ear(), Ear())
            processes[0].join(here)
            processes[1].join(there)
            processes[0].leave(here)
            processes[1].takeOver(Self.client, epoch: 1)
            try await until { !there.heard.isEmpty }
            #expect(here.heard.isEmpty)
            let left = ConnectionCounts(connections: 2, sessions: 1)
            try await until { await processes[0].ask(Self.shop) == left }
        }
    }

    @Test("Counts are those of all processes", arguments: BackplaneKind.here)
    func counts(kind: BackplaneKind) async throws {
        try await kind.withProcesses(3) { processes in
            let ears = processes.map { _ in Ear() }
            for (process, ear) in zip(processes, ears) { process.join(ear) }
            for process in processes {
                let all = ConnectionCounts(connections: 6, sessions: 3)
                try await until { await process.ask(Self.shop) == all }
                #expect(await process.ask(Self.office) == ConnectionCounts())
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
            app == BackplaneTests.shop
                ? ConnectionCounts(connections: 2, sessions: 1) : ConnectionCounts()
        }

        var presence: ConnectionPresence {
            ConnectionPresence(counts: [BackplaneTests.shop: counts(of: BackplaneTests.shop)])
        }
    }
}
