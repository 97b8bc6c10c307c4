import ClientReset
import Coordination
package import LocalRealm
package import Logging
package import Scheduling
package import SyncProtocol
import Transport

/// One user's connection to the server, shared by all of the user's realms (wire protocol, 1).
///
/// When to connect, ping and let go is the `ConnectionMachine`'s to decide; here it is done. `run()` is
/// the connection's own life, `run(_:)` that of one realm in it.
package actor UserConnection {
    let endpoint: any SyncEndpoint
    let time: SyncTime
    let logger: Logger
    var machine: ConnectionMachine
    var random: any RandomNumberGenerator & Sendable
    let timing: ConnectionTiming
    /// Hears what was measured of the way to the server; must not wait.
    let measured: @Sendable (NetworkQuality.Reading) -> Void
    /// Of the PONGs of this connection.
    var roundTrip: Duration?

    private var realms: [SessionIdent: RealmClient] = [:]
    /// The same in the order in which they came, as they take their turns.
    private(set) var realmsInOrder: [RealmClient] = []
    private var nextIdent = SessionIdent.first
    /// Why there was no connection when that was last logged.
    var lastReason: String?
    /// Last words of realms that have left.
    var pendingUnbinds: [ClientMessage] = []
    /// Some are being sent.
    var isSendingUnbinds = false

    /// Nothing is read, since a realm has as much to do as it may.
    var isHolding = false

    /// There may be something to send, or a connection is wanted.
    nonisolated let attention = Signal()
    private nonisolated let wish = RetryRequest()

    package init(
        endpoint: any SyncEndpoint,
        timing: ConnectionTiming,
        reconnect: ReconnectDelay<DisconnectReason>.Parameters,
        time: SyncTime,
        random: any RandomNumberGenerator & Sendable,
        logger: Logger,
        measured: @escaping @Sendable (NetworkQuality.Reading) -> Void = { _ in }
    ) {
        self.endpoint = endpoint
        self.timing = timing
        self.measured = measured
        self.machine = ConnectionMachine(timing: timing, reconnect: reconnect)
        self.time = time
        self.random = random
        self.logger = logger
    }
}

// MARK: Realms

extension UserConnection {
    /// Runs one realm until the task is cancelled, on this connection from the start if `joins`.
    ///
    /// - Throws: what is wrong with the realm's file, if it cannot stay open as it is.
    package func run(_ realm: RealmClient, joins: Bool = true) async throws(LocalRealmError) {
        if joins { await join(realm) }
        let result: Result<Void, LocalRealmError>
        do throws(LocalRealmError) {
            result = .success(try await realm.run())
        } catch {
            result = .failure(error)
        }
        await leave(realm)
        try result.get()
    }

    /// Gives the realm a session of its own; nothing if it has one.
    package func join(_ realm: RealmClient) async {
        guard ident(of: realm) == nil else { return }
        let ident = nextIdent
        nextIdent = nextIdent.next
        realms[ident] = realm
        realmsInOrder.append(realm)
        await realm.join(ident, .init(attention: attention, wish: wish))
        if machine.isConnected { await realm.connected(isFastReconnect: false) }
        attention.raise()
    }

    /// Ends the realm's session in order, and leaves the connection to the others.
    package func leave(_ realm: RealmClient) async {
        guard let ident = ident(of: realm) else { return }
        realms[ident] = nil
        realmsInOrder.removeAll { $0 === realm }
        if let farewell = await realm.leave(), machine.isConnected {
            pendingUnbinds.append(farewell)
        }
        attention.raise()
    }

    /// Somebody asks for an attempt now, or the network has changed: back-off is over, and a
    /// connection that stands is asked for a sign of life (wire protocol, 10.1).
    package nonisolated func reconnect() {
        wish.make()
        attention.raise()
    }

    /// Returns once the last words of realms that have left are sent, or the time is over.
    package func flush(atMost limit: Duration) async {
        let end = time.uptime() + limit
        while machine.isConnected, !pendingUnbinds.isEmpty || isSendingUnbinds, time.uptime() < end
        {
            guard (try? await time.sleep(.milliseconds(5))) != nil else { return }
        }
    }

    func realm(of session: SessionIdent) -> RealmClient? { realms[session] }

    private func ident(of realm: RealmClient) -> SessionIdent? {
        realms.first { $0.value === realm }?.key
    }

    /// How long until the next attempt to connect; nil while there is a connection, and where none is
    /// planned.
    package var timeToNextAttempt: Duration? {
        machine.nextAttempt.map { max(.zero, $0 - time.uptime()) }
    }

    /// Whether any realm has a use for a connection.
    private var isWanted: Bool {
        get async {
            for realm in realmsInOrder where await realm.wantsConnection { return true }
            return false
        }
    }
}

// MARK: Connecting

extension UserConnection {
    /// Connects while that is wanted, until the task is cancelled.
    package func run() async {
        while !Task.isCancelled {
            switch await nextStep() {
            case .connect: await connect()
            case .wait(let moment): await wait(until: moment)
            case .send, .disconnect: break  // Of a connection, and there is none.
            }
        }
    }

    func nextStep() async -> ConnectionMachine.Step {
        if wish.take() { machine.retryNow(at: time.uptime()) }
        let isWanted = await isWanted
        if isHolding { machine.resumedReading(at: time.uptime()) }
        return machine.nextStep(at: time.uptime(), wantsConnection: isWanted)
    }

    /// Waits for the moment or for something to do, whichever comes first.
    func wait(until moment: ConnectionMachine.Moment?) async {
        guard let moment else {
            await attention.wait()
            return
        }
        _ = await attention.wait(atMost: max(.zero, moment - time.uptime()), time)
    }

    /// One connection from the attempt to its end, and what the end asks for.
    private func connect() async {
        for realm in realmsInOrder { await realm.connecting() }
        let cause: OfflineCause?
        do {
            let token = try await endpoint.token()
            let ending = await carry(token)
            noteFailure(ending)
            cause = await settle(ending, token)
        } catch {
            noteFailure(error)
            machine.disconnected(.connectFailed, at: time.uptime(), using: &random)
            cause = pause(because: error)
        }
        for realm in realmsInOrder { await realm.disconnected(cause) }
    }

    private func carry(_ token: EndpointToken) async -> ConnectionEnding {
        await connected(token) { stream in try await self.carry(stream) }
    }

    /// One attempt to connect, the body if it succeeds, and how that ended.
    func connected(
        _ token: EndpointToken,
        _ body: @escaping @Sendable (any MessageStream) async throws -> Void
    ) async -> ConnectionEnding {
        let start = time.uptime()
        let (time, measured) = (time, measured)
        do {
            try await endpoint.withConnection(
                token,
                subProtocols: SubProtocol.offer(for: .partitionBased)
            ) { stream in
                measured(.attempt(time.uptime() - start))
                try await body(stream)
            }
            return .voluntary
        } catch {
            return ConnectionEnding(error, isEndpointVerified: await endpoint.isVerified())
        }
    }

    /// Carries out what the ending asks for (wire protocol, 2.5 and 2.7).
    ///
    /// - Returns: what the realms are to show until the next attempt; nil if that is made at once.
    private func settle(_ ending: ConnectionEnding, _ token: EndpointToken) async -> OfflineCause? {
        let now = time.uptime()
        switch ending {
        case .voluntary:
            machine.disconnected(.voluntary, at: now, using: &random)
            logger.info("disconnected", metadata: ["reason": "no realm needs the connection"])
            return nil
        case .serverProblem(let problem):
            let reason = DisconnectReason.serverError(code: problem.code)
            machine.disconnected(reason, problem: problem, at: now, using: &random)
            return await pursue(
                problem.action ?? .transient,
                token,
                because: "\(problem.message) (\(problem.code))",
                ConnectionError(problem)
            )
        case .failed(let reaction, let description):
            machine.disconnected(reaction.reason, at: now, using: &random)
            if reaction.action.isClientReset { await refuseUploaders(because: description) }
            return await pursue(
                reaction.action,
                token,
                because: description,
                ConnectionError(reaction)
            )
        }
    }

    private func pursue(
        _ action: ServerAction,
        _ token: EndpointToken,
        because reason: String,
        _ error: ConnectionError?
    ) async -> OfflineCause? {
        do throws(EndpointFailure) {
            if try await answer(action, token) { machine.refreshed(at: time.uptime()) }
            return pause(because: reason, error)
        } catch {
            return pause(because: error)
        }
    }

    /// A message was too big, and would come again: it can only be of a realm that had something to
    /// upload, which cannot go on as it is (client reset, 2.3).
    private func refuseUploaders(because description: String) async {
        let cause = ResetCause(
            action: .clientReset,
            code: Int(CloseCode.messageTooBig.rawValue),
            message: description
        )
        for realm in realmsInOrder { await realm.refuseIfUploading(cause) }
    }

    /// Gets what a failed connection showed to be missing; false if nothing was.
    private func answer(
        _ action: ServerAction,
        _ token: EndpointToken
    ) async throws(EndpointFailure) -> Bool {
        switch action {
        case .refreshUser:
            try await endpoint.refreshToken(replacing: token)
            return true
        case .refreshLocation:
            try await endpoint.refreshLocation()
            try await endpoint.refreshToken(replacing: token)
            return true
        case .logOutUser:
            await endpoint.logOut()
            throw .loginRequired(reason: "the server refuses this user")
        case .transient, .warning, .applicationBug, .protocolViolation, .deleteRealm, .clientReset,
            .clientResetNoRecovery, .migrateToFlexibleSync, .revertToPartitionBasedSync,
            .migrateSchema:
            return false
        }
    }

    private func pause(because reason: String, _ error: ConnectionError?) -> OfflineCause? {
        guard let next = machine.nextAttempt else {
            report(reason, retry: "when asked", error?.sdkCode)
            return .serverError(reason: reason, error: error)
        }
        let delay = next - time.uptime()
        guard delay > .zero else { return nil }
        report(reason, retry: delay.forPeople, error?.sdkCode)
        return .backoff(reason: reason, error: error)
    }

    /// Without a token or an address there is nothing to try at once.
    private func pause(because failure: EndpointFailure) -> OfflineCause {
        let retry = machine.nextAttempt.map { ($0 - time.uptime()).forPeople } ?? "when asked"
        switch failure {
        case .unavailable(let reason):
            report(reason, retry: retry, nil)
            return .backoff(reason: reason)
        case .loginRequired(let reason):
            report(reason, retry: retry, .clientUser)
            return .loginRequired(reason: reason)
        }
    }

    /// One message for one fact: the same reason again is no news.
    private func report(_ reason: String, retry: String, _ sdkCode: SDKErrorCode?) {
        // What ends because we stop is no news.
        guard !Task.isCancelled else { return }
        var metadata: Logger.Metadata = ["reason": "\(reason)", "retry": "\(retry)"]
        if let sdkCode { metadata["sdk_code"] = "\(sdkCode.rawValue)" }
        logger.log(
            level: reason == lastReason ? .debug : .warning,
            "not connected",
            metadata: metadata
        )
        lastReason = reason
    }
}
