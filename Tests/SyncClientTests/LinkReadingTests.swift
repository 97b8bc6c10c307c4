import Coordination
import Logging
import Scheduling
import ScriptedPeers
import SyncProtocol
import Synchronization
import TestSupport
import Testing
import Transport

@testable import SyncClient

@Suite("Measurements of the network path to the server", .timeLimit(.minutes(10)))
struct LinkReadingTests {
    /// Keeps what was measured, apart from how long attempts took.
    private final class Notes: Sendable {
        private let readings = Mutex<[NetworkQuality.Reading]>([])

        func note(_ reading: NetworkQuality.Reading) { readings.withLock { $0.append(reading) } }

        var all: [NetworkQuality.Reading] { readings.withLock { $0 } }

        var attempts: Int {
            all.count { if case .attempt = $0 { true } else { false } }
        }

        var roundTrips: Int {
            all.count { if case .roundTrip = $0 { true } else { false } }
        }

        var failures: Int { all.count { $0 == .failure } }
    }

    private func connection(
        _ endpoint: any SyncEndpoint,
        _ notes: Notes,
        timing: ConnectionTiming = ConnectionTiming(),
        reconnect: ReconnectDelay<DisconnectReason>.Parameters = .init(initial: .seconds(600))
    ) -> UserConnection {
        UserConnection(
            endpoint: endpoint,
            timing: timing,
            reconnect: reconnect,
            time: .continuous,
            random: SplitMix64(seed: 2),
            logger: .init(label: "test") { _ in SwiftLogNoOpLogHandler() },
            measured: notes.note
        )
    }

    @Test("A probe is one connection with one PING, and ends")
    func probe() async throws {
        let ended = Signal()
        let endpoint = ScriptedEndpoint { server in
            try? await server.listen()
            ended.raise()
        }
        let notes = Notes()
        await connection(endpoint, notes).probe()
        await ended.wait()
        #expect(notes.attempts == 1)
        #expect(notes.roundTrips == 1)
        #expect(notes.all.count == 2)
    }

    @Test("A probe that gets no connection or no PONG is a failure; a refusal is not")
    func failedProbes() async throws {
        let notes = Notes()
        let silent = ScriptedEndpoint { server in
            while try await server.stream.receive() != nil {}
        }
        let timing = ConnectionTiming(pongTimeout: .milliseconds(20))
        let patient = connection(silent, notes, timing: timing)
        await patient.probe()
        #expect(notes.failures == 1)
        await patient.probe()  // No server is there.
        #expect(notes.failures == 2)
        #expect(notes.roundTrips == 0)
        let refusing = ScriptedEndpoint { server in
            _ = try await server.stream.receive()
            await server.stream.close(.init(rawValue: 4001), reason: "")
        }
        await connection(refusing, notes).probe()
        #expect(notes.failures == 2)
    }

    @Test("Each PONG of an open connection is a reading, and so is its loss")
    func pongs() async throws {
        let notes = Notes()
        let endpoint = ScriptedEndpoint { server in
            _ = try await server.open(RealmOnConnection.file)
            // Each request to reconnect makes it send a PING.
            while notes.roundTrips < 2, let bytes = try await server.stream.receive() {
                try await server.answerPing(bytes)
            }
        }
        try await RealmOnConnection.with(endpoint, measured: notes.note) { _, connection, _ in
            try await until {
                connection.reconnect()
                return notes.roundTrips >= 2
            }
            try await until {
                connection.reconnect()
                return notes.failures > 0
            }
        }
        #expect(notes.attempts == 1)
    }

    @Test("A connection that is there is not probed")
    func noProbe() async throws {
        let notes = Notes()
        let endpoint = ScriptedEndpoint { server in
            _ = try await server.open(RealmOnConnection.file)
            try await server.listen()
        }
        try await RealmOnConnection.with(endpoint, measured: notes.note) {
            realm,
            connection,
            _ in
            try await until { await realm.snapshot().phase == .bound }
            await connection.probe()
            #expect(notes.attempts == 1)
            #expect(notes.failures == 0)
        }
    }
}
