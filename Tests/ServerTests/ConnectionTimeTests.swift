import Changesets
import ServerFixtures
import SyncProtocol
import TestSupport
import Testing
import Transport
import Versions

@testable import ServerStore
@testable import SyncServer

@Suite("Lifetimes of connections", .timeLimit(.minutes(10)))
struct ConnectionTimeTests {
    private let timing: ServerTiming
    private let clock = SteppedClock()

    init() {
        self.timing = ServerTiming(clock: clock)
    }

    @Test("S7 A client that is silent for 15 minutes counts as dead")
    func silence() async throws {
        try await SyncWorld.with(.memory, timing: timing) { [clock] world in
            try await world.connect { client in
                try await client.start()
                // All messages before the first check count.
                for _ in 1...10 { try await clock.pass(.seconds(60), whenAsleep: 1) }
                try await client.ping(1)
                // The check before may reach the connection behind the PING, and count as a 15th.
                for _ in 1...14 { try await clock.pass(.seconds(60), whenAsleep: 1) }
                try await client.ping(2)
                for _ in 1...16 { try await clock.pass(.seconds(60), whenAsleep: 1) }
                #expect(try await client.receive() == nil)
            }
        }
    }

    @Test("A connection outlives its token by one lifetime, then must reconnect with a new one")
    func tokenExpiry() async throws {
        try await SyncWorld.with(.memory, timing: timing) { [clock] world in
            try await world.connect { client in
                try await client.start()
                world.apps.clock.advance(bySeconds: 3599)
                try await clock.pass(.seconds(60), whenAsleep: 1)
                try await client.ping(1)
                world.apps.clock.advance(bySeconds: 1)
                try await clock.pass(.seconds(60), whenAsleep: 1)
                let error = await #expect(throws: TransportError.self) {
                    _ = try await client.receive()
                }
                #expect(error == .closed(.unauthorized, reason: "token expired"))
            }
        }
    }

    @Test("After a connection error the client has 30 seconds to close")
    func softClose() async throws {
        try await SyncWorld.with(.memory, timing: timing) { [clock] world in
            try await world.connect { client in
                try await client.send(text: "nonsense\n")
                _ = try await client.expectError(session: nil)
                // The tick of all connections, and the wait for the client.
                try await clock.pass(.seconds(30), whenAsleep: 2)
                #expect(try await client.receive() == nil)
            }
        }
    }

    @Test("A server that stops closes its connections in order, and ends")
    func gracefulStop() async throws {
        let ended = try await SyncWorld.with(.webSocket) { world in
            try await world.connect { client in
                try await client.start()
                await world.stop()
                while try await client.receive() != nil {}
                return true
            }
        }
        #expect(ended)
    }
}

extension TestClient {
    fileprivate func ping(_ number: UInt64) async throws {
        try await send(.ping(.init(timestampInMilliseconds: number, roundTripInMilliseconds: 0)))
        #expect(try await receive() == .pong(timestampInMilliseconds: number))
    }
}
