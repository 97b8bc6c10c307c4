/// Decides when a client connects, pings and closes its connection, owning no socket and no clock
/// (wire protocol, 10.1 and 11).
///
/// Moments are durations since some fixed moment of a monotonic clock, passed in with each event.
package struct ConnectionMachine: Sendable {
    package typealias Moment = Duration

    private enum State {
        /// Nil: not before `retryNow`.
        case disconnected(retryAt: Moment?)
        case connecting
        case connected(Live)
    }

    private struct Live {
        var ping: Ping
        var idleSince: Moment?
        /// Sessions that were bound on this connection, ended ones included.
        var sessions: Set<SessionIdent> = []
        /// A new attempt was requested, and no PONG has confirmed this connection since.
        var isDoubted = false
    }

    private enum Ping {
        case due(at: Moment)
        case outstanding(timestamp: UInt64, dueSince: Moment)
    }

    private let timing: ConnectionTiming
    private var state = State.disconnected(retryAt: .zero)
    private var delay: ReconnectDelay<DisconnectReason>
    private var lostAt: Moment?
    /// Of the last PONG; nil before the first.
    private var roundTripInMilliseconds: UInt64?
    /// An attempt was already made right after a refresh, and failed.
    private var hasRetriedAfterRefresh = false

    package init(
        timing: ConnectionTiming = .init(),
        reconnect: ReconnectDelay<DisconnectReason>.Parameters = .init()
    ) {
        self.timing = timing
        self.delay = ReconnectDelay(reconnect)
    }

    package var isConnected: Bool {
        if case .connected = state { true } else { false }
    }

    /// The round-trip time of this connection's last PONG; nil before the first.
    package var roundTrip: Duration? {
        guard case .connected = state, let roundTripInMilliseconds else { return nil }
        return .milliseconds(roundTripInMilliseconds)
    }

    /// When the next attempt is made; nil if none is planned.
    package var nextAttempt: Moment? {
        if case .disconnected(let retryAt) = state { retryAt } else { nil }
    }
}

// MARK: Actions

extension ConnectionMachine {
    package enum Step: Hashable, Sendable {
        /// Connect, and report `connected` or `disconnected`.
        case connect
        case send(ClientMessage)
        /// Close the connection, and report `disconnected` with the reason.
        case disconnect(DisconnectReason)
        /// Nothing to do before this moment or the next event.
        case wait(until: Moment?)
    }

    /// - Parameter wantsConnection: whether any session does.
    package mutating func nextStep(at now: Moment, wantsConnection: Bool) -> Step {
        switch state {
        case .disconnected(let retryAt):
            guard wantsConnection, let retryAt else { return .wait(until: nil) }
            guard now >= retryAt else { return .wait(until: retryAt) }
            state = .connecting
            return .connect
        case .connecting:
            return .wait(until: nil)
        case .connected(var live):
            let step = nextStep(at: now, wantsConnection, &live)
            state = .connected(live)
            return step
        }
    }

    private func nextStep(at now: Moment, _ wantsConnection: Bool, _ live: inout Live) -> Step {
        live.idleSince = wantsConnection ? nil : live.idleSince ?? now
        let lingerEnd = live.idleSince.map { $0 + timing.linger }
        if let lingerEnd, now >= lingerEnd { return .disconnect(.voluntary) }
        switch live.ping {
        case .due(let moment) where now >= moment:
            let timestamp = now.wholeMilliseconds
            live.ping = .outstanding(timestamp: timestamp, dueSince: moment)
            let ping = ClientMessage.Ping(
                timestampInMilliseconds: timestamp,
                roundTripInMilliseconds: roundTripInMilliseconds ?? 0
            )
            return .send(.ping(ping))
        case .due(let moment):
            return .wait(until: min(moment, lingerEnd ?? moment))
        case .outstanding(_, let dueSince):
            let end = dueSince + timing.pongTimeout
            guard now < end else { return .disconnect(.pongTimedOut) }
            return .wait(until: min(end, lingerEnd ?? end))
        }
    }
}

// MARK: Events

extension ConnectionMachine {
    /// The connection is open and a sub-protocol is agreed on.
    ///
    /// - Returns: whether it came back fast enough for sessions to upload at once.
    package mutating func connected(
        at now: Moment,
        using random: inout some RandomNumberGenerator
    ) -> Bool {
        roundTripInMilliseconds = nil
        let firstPing = now + .random(upTo: timing.pingPeriod, using: &random)
        state = .connected(Live(ping: .due(at: firstPing)))
        return lostAt.map { now - $0 <= timing.fastReconnectLimit } ?? false
    }

    /// An attempt failed, or the connection is gone.
    ///
    /// - Parameter problem: the server's error, if that was the reason.
    package mutating func disconnected(
        _ reason: DisconnectReason,
        problem: ServerProblem? = nil,
        at now: Moment,
        using random: inout some RandomNumberGenerator
    ) {
        var isDoubted = false
        if case .connected(let live) = state {
            lostAt = now
            isDoubted = live.isDoubted
        }
        if reason == .voluntary {
            state = .disconnected(retryAt: now)
        } else if isDoubted {
            retryAtOnce(now)
        } else if problem?.tryAgain == false {
            state = .disconnected(retryAt: nil)
        } else {
            delay.failed(reason, backoff: problem?.backoff)
            state = .disconnected(retryAt: now + delay.next(using: &random))
        }
    }

    /// A new token or a new location has arrived; the next attempt follows at once, unless the last
    /// one did so as well and was refused again.
    package mutating func refreshed(at now: Moment) {
        guard case .disconnected = state, !hasRetriedAfterRefresh else { return }
        hasRetriedAfterRefresh = true
        state = .disconnected(retryAt: now)
    }

    /// A user requests an attempt now, or the network came up.
    ///
    /// An open connection is checked with a PING; if no PONG comes, the next one is made without
    /// delay.
    package mutating func retryNow(at now: Moment) {
        switch state {
        case .disconnected:
            retryAtOnce(now)
        case .connecting:
            delay.reset()
        case .connected(var live):
            live.isDoubted = true
            if case .due = live.ping { live.ping = .due(at: now) }
            state = .connected(live)
        }
    }

    /// Reading was paused for a while, by our own choice: a PONG is not overdue before it could be
    /// read.
    package mutating func resumedReading(at now: Moment) {
        guard case .connected(var live) = state,
            case .outstanding(let timestamp, let dueSince) = live.ping
        else { return }
        live.ping = .outstanding(timestamp: timestamp, dueSince: max(dueSince, now))
        state = .connected(live)
    }

    /// A session was there until now, which a step may have missed: it may have come and left between two.
    package mutating func sessionLeft() {
        guard case .connected(var live) = state else { return }
        live.idleSince = nil
        state = .connected(live)
    }

    private mutating func retryAtOnce(_ now: Moment) {
        delay.reset()
        state = .disconnected(retryAt: now)
    }
}

// MARK: Messages

extension ConnectionMachine {
    package enum Receipt: Hashable, Sendable {
        /// For the session of that ident; if it has ended, the message is dropped.
        case deliver(SessionIdent, ServerMessage)
        case log(LogMessageBody)
        case alive
        /// The server ends the connection: close it, and report `disconnected` with the problem.
        case failed(ServerProblem)
        /// Close the connection, and report `disconnected`.
        case violation(ProtocolViolation)
    }

    /// Call it with every message before it is sent.
    package mutating func sending(_ message: ClientMessage) {
        guard case .connected(var live) = state, case .bind(let bind) = message else { return }
        live.sessions.insert(bind.session)
        state = .connected(live)
    }

    package mutating func received(
        _ message: ServerMessage,
        at now: Moment,
        using random: inout some RandomNumberGenerator
    ) -> Receipt {
        guard case .connected(let live) = state else {
            return .violation(.unexpected(message: message.name))
        }
        if let session = message.session {
            guard live.sessions.contains(session) else {
                return .violation(.unknownSession(session))
            }
            if case .download = message { proveAlive() }
            return .deliver(session, message)
        }
        switch message {
        case .pong(let timestamp):
            return receivedPong(timestamp, at: now, live, using: &random)
        case .logMessage(_, let body): return .log(body)
        case .error(let report): return received(ServerProblem(report))
        case .jsonError(let report): return received(ServerProblem(report))
        case .ident, .download, .unbound, .mark, .queryError, .testCommand:
            return .violation(.unexpected(message: message.name))
        }
    }

    private func received(_ problem: ServerProblem) -> Receipt {
        guard SyncErrorCode(rawValue: problem.code)?.level == .connection else {
            return .violation(.badErrorCode(problem.code))
        }
        return .failed(problem)
    }

    private mutating func receivedPong(
        _ timestamp: UInt64,
        at now: Moment,
        _ live: Live,
        using random: inout some RandomNumberGenerator
    ) -> Receipt {
        guard case .outstanding(timestamp, let dueSince) = live.ping else {
            return .violation(.unexpectedPong)
        }
        let sentAt = min(timestamp, now.wholeMilliseconds)
        roundTripInMilliseconds = now.wholeMilliseconds - sentAt
        let period = timing.pingPeriod
        let pause = period - .random(upTo: period / 10, using: &random) - (now - dueSince)
        var live = live
        live.isDoubted = false
        live.ping = .due(at: now + max(.zero, pause))
        state = .connected(live)
        proveAlive()
        return .alive
    }

    /// The reference continues with an old delay hours later; ours starts over after a PONG.
    private mutating func proveAlive() {
        delay.reset()
        hasRetriedAfterRefresh = false
    }
}
