import ScriptedPeers
import SyncProtocol
import Synchronization
import TestSupport
import Testing
import Transport
import Versions

@testable import SyncClient

/// The rules of wire protocol, 10.1 and 11, as the running engine keeps them.
@Suite("Connections over time, on a clock of the test's own", .timeLimit(.minutes(10)))
struct ConnectionTimeTests {
    private let clock = SteppedClock()

    private func run(
        _ endpoint: ScriptedEndpoint,
        timing: ConnectionTiming = ConnectionTiming(),
        reconnect: ReconnectDelay<DisconnectReason>.Parameters = .init(
            initial: .seconds(1_000),
            maximum: .seconds(4_000)
        ),
        _ body: (RealmClient, UserConnection, String) async throws -> Void
    ) async throws {
        try await RealmOnConnection.with(
            endpoint,
            timing: timing,
            reconnect: reconnect,
            time: clock.syncTime,
            body
        )
    }

    private func attempts(_ count: Int, of endpoint: ScriptedEndpoint) async {
        #expect(await eventually { endpoint.tokens.count >= count })
    }

    private func bound(_ realm: RealmClient) async {
        #expect(await eventually { await realm.snapshot().phase == .bound })
    }

    /// The server has nothing more to answer but PINGs.
    private func quiet(_ realm: RealmClient) async {
        #expect(await eventually { await realm.snapshot().standing.hasCompleted })
    }

    // MARK: Back-off

    @Test(
        "Back-off doubles up to its maximum, less a random quarter; another reason restarts it"
    )
    func backoff() async throws {
        let broken: ScriptedEndpoint.Play = { server in
            await server.stream.close(.internalError, reason: "")
        }
        let endpoint = ScriptedEndpoint(nil, nil, nil, nil, nil, broken)
        try await run(endpoint) { realm, _, _ in
            let waits: [ClosedRange<Duration>] = [
                .seconds(750)...(.seconds(1_000)), .seconds(1_500)...(.seconds(2_000)),
                .seconds(3_000)...(.seconds(4_000)), .seconds(3_000)...(.seconds(4_000)),
                .seconds(3_000)...(.seconds(4_000)), .seconds(750)...(.seconds(1_000)),
            ]
            for (index, wait) in waits.enumerated() {
                await attempts(index + 1, of: endpoint)
                try await clock.pass(wait)
            }
            await attempts(7, of: endpoint)
        }
    }

    @Test(
        "After a connection error with try_again false there is no attempt until one is requested"
    )
    func noMoreTries() async throws {
        let endpoint = ScriptedEndpoint(
            { server in
                try await server.sendError(102, action: "ProtocolViolation", tryAgain: false, nil)
                try? await server.listen()
            },
            SessionActionTests.serve
        )
        try await run(endpoint) { realm, connection, _ in
            let error = ConnectionError(code: "sync.unknown_message", sdkCode: .clientSession)
            let reason = "no [sync.unknown_message]"
            let phase = SessionPhase.offline(.serverError(reason: reason, error: error))
            try await until { await realm.snapshot().phase == phase }
            for _ in 0..<48 {
                clock.advance(by: .seconds(3_600))
                for _ in 0..<20 { await Task.yield() }
            }
            #expect(endpoint.tokens.count == 1)
            connection.reconnect()
            await bound(realm)
        }
    }

    // MARK: Sessions

    @Test("A suspended session binds again on the same connection after the server's own delays")
    func resumption() async throws {
        let endpoint = ScriptedEndpoint { server in
            guard case .bind(let first) = try await server.receive() else { return }
            try await server.sendError(
                201,
                action: "Transient",
                tryAgain: true,
                first.session,
                backoff: (interval: 300, maximum: 450, multiplier: 2)
            )
            for _ in 0..<2 {
                guard case .unbind = try await server.receive(),
                    case .bind(let again) = try await server.receive()
                else { throw ScriptedServer.Gone() }
                #expect(again.session == first.session)
                try await server.sendError(201, action: "Transient", tryAgain: true, again.session)
            }
            guard case .unbind = try await server.receive() else { throw ScriptedServer.Gone() }
            _ = try await server.open(RealmOnConnection.file)
            try await server.listen()
        }
        // So long that no PING, which comes first at a moment of chance, is taken for a delay.
        let timing = ConnectionTiming(pingPeriod: .seconds(9_000_000), linger: .seconds(9_000))
        try await run(endpoint, timing: timing) { realm, _, _ in
            // 300, then twice that but 450 at most, each less a quarter by chance.
            try await clock.pass(.seconds(225)...(.seconds(300)))
            try await clock.pass(.milliseconds(337_500)...(.seconds(450)))
            try await clock.pass(.milliseconds(337_500)...(.seconds(450)))
            await bound(realm)
            #expect(endpoint.tokens.count == 1)
        }
    }

    @Test("A session that the server closed binds again after exactly one second")
    func sessionClosed() async throws {
        let endpoint = ScriptedEndpoint { server in
            guard case .bind(let bind) = try await server.receive() else { return }
            try await server.sendError(200, action: "Transient", tryAgain: true, bind.session)
            guard case .unbind = try await server.receive() else { throw ScriptedServer.Gone() }
            _ = try await server.open(RealmOnConnection.file)
            try await server.listen()
        }
        try await run(endpoint) { realm, _, _ in
            try await clock.pass(.seconds(1)...(.seconds(1)))
            await bound(realm)
        }
    }

    // MARK: Signs of life

    @Test("The first PING comes within a period, the next a period after it less a tenth at most")
    func pings() async throws {
        let pings = Mutex<[Duration]>([])
        let endpoint = ScriptedEndpoint { [clock] server in
            _ = try await server.open(RealmOnConnection.file)
            while let message = try await server.receiveAny() {
                guard case .ping(let ping) = message else { continue }
                pings.withLock { $0.append(clock.uptime) }
                let timestamp = ping.timestampInMilliseconds
                try await server.send(.pong(timestampInMilliseconds: timestamp))
            }
        }
        let timing = ConnectionTiming(pingPeriod: .seconds(6_000))
        try await run(endpoint, timing: timing) { realm, _, _ in
            await quiet(realm)
            try await clock.pass(.seconds(6)...(.seconds(6_000)))
            for count in 1...3 {
                try await until { pings.withLock({ $0.count }) >= count }
                try await clock.pass(.seconds(5_400)...(.seconds(6_000)))
            }
        }
        let moments = pings.withLock { $0 }
        #expect(moments.count >= 3)
    }

    @Test(
        "A PONG that does not come ends the connection, and the next one is made after a back-off"
    )
    func pongTimeout() async throws {
        let endpoint = ScriptedEndpoint(
            { server in
                _ = try await server.open(RealmOnConnection.file)
                // Hears everything, and says nothing.
                while try await server.receiveAny() != nil {}
            },
            SessionActionTests.resume
        )
        let timing = ConnectionTiming(pingPeriod: .seconds(50), pongTimeout: .seconds(600))
        try await run(endpoint, timing: timing) { realm, _, _ in
            await quiet(realm)
            clock.advance(by: .seconds(50))
            try await clock.pass(.seconds(550)...(.seconds(600)))
            try await clock.pass(.seconds(750)...(.seconds(1_000)))
            await attempts(2, of: endpoint)
            await bound(realm)
        }
    }

    // MARK: Linger, and coming back

    @Test(
        "A connection outlives its last session for the linger time, and serves new sessions"
    )
    func linger() async throws {
        let hasEnded = Mutex(false)
        let serve: ScriptedEndpoint.Play = { server in
            var hasIdent = false
            while let message = try await server.receiveAny() {
                switch message {
                case .bind(let bind) where bind.needsFileIdent && !hasIdent:
                    hasIdent = true
                    try await server.send(.ident(bind.session, RealmOnConnection.file))
                case .mark(let session, let request):
                    try await server.send(.mark(session, request))
                case .unbind(let session): try await server.send(.unbound(session))
                default: continue
                }
            }
            hasEnded.withLock { $0 = true }
        }
        let endpoint = ScriptedEndpoint(serve)
        let timing = ConnectionTiming(pingPeriod: .seconds(9_000_000), linger: .seconds(500))
        try await run(endpoint, timing: timing) { realm, connection, _ in
            await bound(realm)
            await connection.leave(realm)
            try await clock.sleeper(.seconds(500)...(.seconds(500)))
            clock.advance(by: .seconds(499))
            await connection.join(realm)
            await bound(realm)
            #expect(endpoint.tokens.count == 1)
            await connection.leave(realm)
            try await clock.pass(.seconds(500)...(.seconds(500)))
            // With the code 1000, which is the end of the stream for the server.
            try await until { hasEnded.withLock({ $0 }) }
            #expect(endpoint.tokens.count == 1)
        }
    }

    @Test("Back within the limit a session uploads at once, later it downloads first")
    func fastReconnect() async throws {
        for isFast in [true, false] {
            let heard = Mutex<[String]>([])
            let endpoint = ScriptedEndpoint(
                { server in
                    _ = try await server.open(RealmOnConnection.file)
                    // The schema: from here on nothing holds back uploads.
                    guard case .upload = try await server.receive() else {
                        throw ScriptedServer.Gone()
                    }
                },
                { server in
                    while let message = try await server.receiveAny() {
                        heard.withLock { $0.append(message.name) }
                        if case .mark(let session, let request) = message {
                            try await server.send(.mark(session, request))
                        }
                    }
                }
            )
            let timing = ConnectionTiming(
                pingPeriod: .seconds(9_000_000),
                fastReconnectLimit: isFast ? .seconds(1_000) : .seconds(700)
            )
            try await run(endpoint, timing: timing) { realm, _, path in
                try await clock.pass(.seconds(750)...(.seconds(1_000)))
                try RealmOnConnection.insert(path, 1)
                try await until {
                    // The capture gathers for a millisecond.
                    clock.advance(by: .milliseconds(1))
                    return heard.withLock { $0.contains("UPLOAD") }
                }
            }
            let expected =
                isFast ? ["BIND", "IDENT", "UPLOAD"] : ["BIND", "IDENT", "MARK", "UPLOAD"]
            #expect(heard.withLock { Array($0.prefix(expected.count)) } == expected)
        }
    }
}
