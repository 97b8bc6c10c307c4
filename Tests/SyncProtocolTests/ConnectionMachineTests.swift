import Changesets
import ScriptedPeers
import SyncProtocol
import TestSupport
import Testing
import Versions

@Suite("When a client connects, pings and disconnects")
struct ConnectionMachineTests {
    private var random = SplitMix64(seed: 11)

    private mutating func connected(at now: Duration = .zero) -> ConnectionMachine {
        var machine = ConnectionMachine(reconnect: .init(jitter: 0))
        #expect(machine.nextStep(at: now, wantsConnection: true) == .connect)
        #expect(!machine.connected(at: now, using: &random))
        return machine
    }

    private func pingMoment(_ machine: ConnectionMachine, at now: Duration) -> Duration? {
        var machine = machine
        guard case .wait(let moment) = machine.nextStep(at: now, wantsConnection: true) else {
            return nil
        }
        return moment
    }

    @Test("It connects only for a session that wants it")
    func onDemand() {
        var machine = ConnectionMachine()
        #expect(machine.nextStep(at: .zero, wantsConnection: false) == .wait(until: nil))
        #expect(machine.nextStep(at: .zero, wantsConnection: true) == .connect)
        #expect(machine.nextStep(at: .zero, wantsConnection: true) == .wait(until: nil))
    }

    @Test("The first PING comes within a period, the next ones after a period less a tenth")
    mutating func pings() throws {
        var machine = connected()
        let first = try #require(pingMoment(machine, at: .zero))
        #expect(first <= .seconds(60))
        guard case .send(.ping(let ping)) = machine.nextStep(at: first, wantsConnection: true)
        else {
            Issue.record("no PING")
            return
        }
        #expect(ping.roundTripInMilliseconds == 0)
        let answered = first + .milliseconds(250)
        let pong = ServerMessage.pong(timestampInMilliseconds: ping.timestampInMilliseconds)
        #expect(machine.received(pong, at: answered, using: &random) == .alive)
        let second = try #require(pingMoment(machine, at: answered))
        #expect(second - first <= .seconds(60))
        #expect(second - first >= .seconds(54))
        guard case .send(.ping(let next)) = machine.nextStep(at: second, wantsConnection: true)
        else {
            Issue.record("no PING")
            return
        }
        #expect(next.roundTripInMilliseconds == 250)
    }

    @Test("A missing PONG ends the connection after two minutes")
    mutating func pongTimeout() throws {
        var machine = connected()
        let due = try #require(pingMoment(machine, at: .zero))
        _ = machine.nextStep(at: due, wantsConnection: true)
        let end = due + .seconds(120)
        #expect(machine.nextStep(at: due, wantsConnection: true) == .wait(until: end))
        #expect(
            machine.nextStep(at: end, wantsConnection: true) == .disconnect(.pongTimedOut)
        )
    }

    @Test("An unrequested or altered PONG is a violation")
    mutating func wrongPongs() throws {
        var machine = connected()
        let pong = ServerMessage.pong(timestampInMilliseconds: 5)
        #expect(
            machine.received(pong, at: .zero, using: &random) == .violation(.unexpectedPong)
        )
        let due = try #require(pingMoment(machine, at: .zero))
        _ = machine.nextStep(at: due, wantsConnection: true)
        #expect(
            machine.received(.pong(timestampInMilliseconds: 1), at: due, using: &random)
                == .violation(.unexpectedPong)
        )
    }

    @Test("Without sessions the connection lingers, then ends without a delay")
    mutating func linger() {
        var machine = connected()
        _ = machine.nextStep(at: .seconds(1), wantsConnection: false)
        _ = machine.nextStep(at: .seconds(20), wantsConnection: true)
        _ = machine.nextStep(at: .seconds(40), wantsConnection: false)
        // Long past every PING: the linger time counts from the last session on.
        #expect(
            machine.nextStep(at: .seconds(70), wantsConnection: false) == .disconnect(.voluntary)
        )
        machine.disconnected(.voluntary, at: .seconds(70), using: &random)
        #expect(machine.nextStep(at: .seconds(70), wantsConnection: true) == .connect)
    }

    @Test("A session that came and left between two steps restarts the linger time")
    mutating func lingerUnseen() {
        var machine = connected()
        _ = machine.nextStep(at: .seconds(1), wantsConnection: false)
        machine.sessionLeft()
        #expect(
            machine.nextStep(at: .seconds(40), wantsConnection: false) != .disconnect(.voluntary)
        )
        #expect(
            machine.nextStep(at: .seconds(70), wantsConnection: false) == .disconnect(.voluntary)
        )
    }

    @Test("A connection that comes back within a minute is fast, the first one never is")
    mutating func fastReconnect() {
        for (pause, isFast) in [(Duration.seconds(60), true), (.seconds(61), false)] {
            var machine = connected()
            machine.disconnected(.lost, at: .seconds(5), using: &random)
            #expect(machine.nextStep(at: .seconds(6), wantsConnection: true) == .connect)
            machine.disconnected(.connectFailed, at: .seconds(7), using: &random)
            machine.retryNow(at: .seconds(8))
            _ = machine.nextStep(at: .seconds(8), wantsConnection: true)
            #expect(machine.connected(at: .seconds(5) + pause, using: &random) == isFast)
        }
    }

    @Test("Failures for the same reason wait longer each time, until a PONG")
    mutating func backoff() {
        var machine = ConnectionMachine(reconnect: .init(jitter: 0))
        var now = Duration.zero
        for expected in [1, 2, 4] {
            #expect(machine.nextStep(at: now, wantsConnection: true) == .connect)
            machine.disconnected(.connectFailed, at: now, using: &random)
            #expect(
                machine.nextStep(at: now, wantsConnection: true)
                    == .wait(until: now + .seconds(expected))
            )
            now += .seconds(expected)
        }
        _ = machine.nextStep(at: now, wantsConnection: true)
        _ = machine.connected(at: now, using: &random)
        machine.sending(.bind(.init(session: 1, path: "p", needsFileIdent: false)))
        _ = machine.received(download(1, .zero), at: now, using: &random)
        machine.disconnected(.connectFailed, at: now, using: &random)
        #expect(machine.nextAttempt == now + .seconds(1))
    }

    @Test("An error of the server without another try ends all attempts, until one is requested")
    mutating func finalError() {
        var machine = connected()
        let report = JSONErrorReport(.switchToFlexibleSync, message: "use flexible sync")
        let receipt = machine.received(.jsonError(report), at: .zero, using: &random)
        guard case .failed(let problem) = receipt else {
            Issue.record("\(receipt)")
            return
        }
        machine.disconnected(
            .serverError(code: problem.code),
            problem: problem,
            at: .zero,
            using: &random
        )
        #expect(machine.nextAttempt == nil)
        #expect(machine.nextStep(at: .seconds(9999), wantsConnection: true) == .wait(until: nil))
        machine.retryNow(at: .seconds(10_000))
        #expect(machine.nextStep(at: .seconds(10_000), wantsConnection: true) == .connect)
    }

    @Test("After a refresh the next attempt is at once, but not again if it fails")
    mutating func refreshed() {
        var machine = ConnectionMachine(reconnect: .init(jitter: 0))
        _ = machine.nextStep(at: .zero, wantsConnection: true)
        machine.disconnected(.rejected(status: 401), at: .zero, using: &random)
        machine.refreshed(at: .milliseconds(10))
        #expect(machine.nextStep(at: .milliseconds(10), wantsConnection: true) == .connect)
        machine.disconnected(.rejected(status: 401), at: .milliseconds(20), using: &random)
        machine.refreshed(at: .milliseconds(30))
        #expect(machine.nextAttempt == .milliseconds(2020))
    }

    @Test("If an attempt is requested while connected, it pings at once, and waits for the PONG")
    mutating func doubt() {
        var machine = connected()
        machine.retryNow(at: .milliseconds(1))
        guard
            case .send(.ping(let ping)) = machine.nextStep(
                at: .milliseconds(1),
                wantsConnection: true
            )
        else {
            Issue.record("no PING")
            return
        }
        var silent = machine
        silent.disconnected(.pongTimedOut, at: .seconds(121), using: &random)
        #expect(silent.nextAttempt == .seconds(121))
        let pong = ServerMessage.pong(timestampInMilliseconds: ping.timestampInMilliseconds)
        _ = machine.received(pong, at: .seconds(1), using: &random)
        machine.disconnected(.lost, at: .seconds(2), using: &random)
        #expect(machine.nextAttempt == .seconds(3))
    }

    @Test("Messages go to the sessions that were bound here; others are violations")
    mutating func routing() {
        var machine = connected()
        let error = sessionError(.otherError, session: 7)
        #expect(
            machine.received(error, at: .zero, using: &random)
                == .violation(.unknownSession(7))
        )
        machine.sending(.bind(.init(session: 7, path: "p", needsFileIdent: false)))
        machine.sending(.unbind(7))
        #expect(machine.received(error, at: .zero, using: &random) == .deliver(7, error))
        let log = LogMessageBody(level: .info, message: "hi")
        #expect(
            machine.received(.logMessage(nil, log), at: .zero, using: &random) == .log(log)
        )
    }

    @Test("An error of the connection must have a code of the connection")
    mutating func levels() throws {
        var machine = connected()
        for (code, isGood) in [(100, true), (113, true), (104, true), (199, false), (208, false)] {
            let bytes = Array("error \(code) 1 1 0\nx".utf8)
            let message = try ServerMessage(decoding: bytes, context: .partitionClient)
            let receipt = machine.received(message, at: .zero, using: &random)
            if case .failed = receipt {
                #expect(isGood, "\(code)")
            } else {
                #expect(!isGood, "\(code)")
                #expect(receipt == .violation(.badErrorCode(code)))
            }
        }
    }
}
