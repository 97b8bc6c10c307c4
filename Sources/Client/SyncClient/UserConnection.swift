import ClientReset
import Coordination
package import LocalRealm
package import Logging
package import Scheduling
package import SyncProtocol
import Transport

/// One user's connection to the server, shared by all of the user's realms (wire protocol, 1).
///
/// `ConnectionMachine` decides when to connect, ping and close; this type carries it out. `run()`
/// runs the connection, `run(_:)` one realm on it.
package actor UserConnection {
    let endpoint: any SyncEndpoint
    /// Partitions and subscriptions never share a connection (wire protocol, 1).
    nonisolated let mode: SyncMode
    let time: SyncTime
    let logger: Logger
    var machine: ConnectionMachine
    var random: any RandomNumberGenerator & Sendable
    let timing: ConnectionTiming
    /// Receives measurements of the network path to the server; must not block.
    let measured: @Sendable (NetworkQuality.Reading) -> Void
    /// The smoothed round-trip time of this connection's PONGs.
    var roundTrip: Duration?

    private var realms: [SessionIdent: RealmClient] = [:]
    /// The same in order of arrival, which is the order of their turns.
    private(set) var realmsInOrder: [RealmClient] = []
    private var nextIdent = SessionIdent.first
    /// The reason of the last logged failure to connect.
    var lastReason: String?
    /// Last words of realms that have left.
    var pendingUnbinds: [ClientMessage] = []
    /// Some are being sent.
    var isSendingUnbinds = false

    /// Messages that realms have no room for yet.
    var inbox = Inbox()
    /// Raised when a message waits in the inbox, or a realm has room for it.
    nonisolated let deliverable = Signal()
    /// Raised when the inbox has got shorter.
    nonisolated let inboxShrunk = Signal()
    /// Nothing is read, since the inbox is full.
    var isHolding = false

    nonisolated let turns = SendTurns()
    /// Raised when there may be a message to send, or a connection is needed.
    nonisolated let attention = Signal()
    private nonisolated let retryRequest = RetryRequest()

    package init(
        endpoint: any SyncEndpoint,
        mode: SyncMode = .partitionBased,
        timing: ConnectionTiming,
        reconnect: ReconnectDelay<DisconnectReason>.Parameters,
        time: SyncTime,
        random: any RandomNumberGenerator & Sendable,
        logger: Logger,
        measured: @escaping @Sendable (NetworkQuality.Reading) -> Void = { _ in }
    ) {
        self.endpoint = endpoint
        self.mode = mode
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
    /// - Throws: the error of the realm's file, if it cannot stay open.
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
        let connection = RealmClient.Connection(
            session: ident,
            turns: turns,
            attention: attention,
            retryRequest: retryRequest,
            room: deliverable
        )
        await realm.join(connection)
        if machine.isConnected { await realm.connected(isFastReconnect: false) }
        connection.wake()
    }

    /// Ends the realm's session in order, and leaves the connection to the others.
    package func leave(_ realm: RealmClient) async {
        guard let ident = ident(of: realm) else { return }
        realms[ident] = nil
        realmsInOrder.removeAll { $0 === realm }
        if let farewell = await realm.leave(), machine.isConnected {
            pendingUnbinds.append(farewell)
        }
        machine.sessionLeft()
        attention.raise()
        // What waits for it can be dropped.
        deliverable.raise()
    }

    /// Ends the back-off, because a user or plugin requests an attempt or the network has changed.
    /// An open connection is tested with a PING (wire protocol, 10.1).
    package nonisolated func reconnect() {
        retryRequest.make()
        attention.raise()
    }

    /// Returns once the UNBINDs of realms that have left are sent, or the limit has passed.
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

    /// Time until the next attempt to connect; nil while there is a connection, or no attempt is
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
    /// Connects while a realm needs the connection, until the task is cancelled.
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
        if retryRequest.take() { machine.retryNow(at: time.uptime()) }
        let isWanted = await isWanted
        if isHolding { machine.resumedReading(at: time.uptime()) }
        return machine.nextStep(at: time.uptime(), wantsConnection: isWanted)
    }

    /// Waits for the moment or for something to do, whichever comes first.
    private func wait(until moment: ConnectionMachine.Moment?) async {
        guard let moment else {
            await attention.wait()
            return
        }
        _ = await attention.wait(atMost: max(.zero, moment - time.uptime()), time)
    }

    /// Makes one connection, and carries out the reaction to its end.
    private func connect() async {
        logger.info("connecting", metadata: ["realms": "\(realmsInOrder.count)"])
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

    /// Attempts to connect, runs the body on success, and returns how the connection ended.
    func connected(
        _ token: EndpointToken,
        _ body: @escaping @Sendable (any MessageStream) async throws -> Void
    ) async -> ConnectionEnding {
        let start = time.uptime()
        let (time, measured, mode) = (time, measured, mode)
        do {
            try await endpoint.withConnection(
                token,
                subProtocols: SubProtocol.offer(for: mode)
            ) { stream in
                measured(.attempt(time.uptime() - start))
                try await body(stream)
            }
            return .voluntary
        } catch {
            return ConnectionEnding(error, isEndpointVerified: await endpoint.isVerified())
        }
    }

    /// Carries out the reaction to the ending (wire protocol, 2.5 and 2.7).
    ///
    /// - Returns: the cause that realms show until the next attempt; nil if that is made at once.
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
                because: "\(problem.message) [\(problem.dottedCode)]",
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

    /// A message was too big, and would be sent again. It must come from a realm with pending
    /// uploads, which cannot continue as it is (client reset, 2.3).
    private func refuseUploaders(because description: String) async {
        let cause = ResetCause(
            action: .clientReset,
            code: Int(CloseCode.messageTooBig.rawValue),
            message: description
        )
        for realm in realmsInOrder { await realm.refuseIfUploading(cause) }
    }

    /// Refreshes the token or address that the failed connection needs; false if neither.
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
            report(reason, retry: "when asked", error)
            return .serverError(reason: reason, error: error)
        }
        let delay = next - time.uptime()
        guard delay > .zero else { return nil }
        report(reason, retry: delay.forPeople, error)
        return .backoff(reason: reason, error: error)
    }

    /// Without a token or an address there is nothing to try at once.
    private func pause(because failure: EndpointFailure) -> OfflineCause {
        let retry = machine.nextAttempt.map { ($0 - time.uptime()).forPeople } ?? "when asked"
        switch failure {
        case .unavailable(let reason, let error):
            report(reason, retry: retry, error)
            return .backoff(reason: reason, error: error)
        case .loginRequired(let reason, let code):
            report(reason, retry: retry, ConnectionError(code: code, sdkCode: .clientUser))
            return .loginRequired(reason: reason, code: code)
        }
    }

    /// Reports the reason; a repetition of the same one is not reported.
    private func report(_ reason: String, retry: String, _ error: ConnectionError?) {
        // Failures caused by stopping are not reported.
        guard !Task.isCancelled else { return }
        var metadata: Logger.Metadata = ["reason": "\(reason)", "retry": "\(retry)"]
        if let error {
            metadata["code"] = "\(error.code)"
            if let number = error.sdkCode { metadata["sdk_code"] = "\(number.rawValue)" }
        }
        if reason == lastReason {
            logger.info("attempt to connect failed", metadata: metadata)
        } else {
            logger.warning("not connected", metadata: metadata)
        }
        lastReason = reason
    }
}
