internal import Coordination
internal import DequeModule
package import PostgreSQL
internal import Synchronization
package import Versions

/// The connection by which a process announces changes and hears of those of others, on a thread of its
/// own (server on PostgreSQL, 6.1 and 6.4).
///
/// Growth is announced after its commit, never inside: NOTIFY holds a lock of the whole database until
/// its transaction is flushed. What gathers within some milliseconds after one NOTIFY goes with the next.
/// Announcements may be lost with the connection: each process also polls.
package final class CoordinationConnection: Sendable {
    /// Calls on the connection's thread, one at a time.
    package struct Handlers: Sendable {
        /// Looks at a new connection, and reads what may have changed meanwhile. It already listens, so
        /// that nothing is missed in between.
        package var connected: @Sendable (Connection) throws -> Void
        /// Reads what an announcement that was lost would have told.
        package var poll: @Sendable (Connection) throws -> Void
        /// An announcement of another process.
        package var heard: @Sendable (Announcement) -> Void
        /// The connection is gone, or was not made; another attempt follows.
        package var lost: @Sendable (any Error) -> Void
        /// The last use of the connection.
        package var closing: @Sendable (Connection) throws -> Void

        package init(
            connected: @escaping @Sendable (Connection) throws -> Void = { _ in },
            poll: @escaping @Sendable (Connection) throws -> Void = { _ in },
            heard: @escaping @Sendable (Announcement) -> Void,
            lost: @escaping @Sendable (any Error) -> Void = { _ in },
            closing: @escaping @Sendable (Connection) throws -> Void = { _ in }
        ) {
            self.connected = connected
            self.poll = poll
            self.heard = heard
            self.lost = lost
            self.closing = closing
        }
    }

    private struct State {
        var outbox = GrowthOutbox()
        var takeovers: Deque<Announcement> = []
        var orders = OrderOutbox()
        var calls: [Call] = []
        var mustPoll = false
        var isClosed = false
    }

    /// Gets the connection, or the reason why there is none.
    private typealias Call = @Sendable (Result<Connection, any Error>) -> Void

    /// Takeovers that wait to be announced.
    private static let takeoverLimit = 10_000
    /// Payloads that share a round trip.
    private static let payloadsAtOnce = 100
    /// The shortest time between two announcements of growth: the first goes at once, and a busy file costs
    /// no more than this.
    private static let growthPause = Duration.milliseconds(5)

    private let target: Target
    private let channel: String
    private let pollInterval: Duration
    private let connectLimit: Duration
    private let handlers: Handlers
    private let state = Mutex(State())
    private let wake: Wake
    private let interruption: Interruption
    private let ended = Promise<Void>()

    /// - Parameters:
    ///   - storeID: of the store in the target's schema.
    ///   - pollInterval: the time between two polls.
    ///   - connectLimit: the longest time for one attempt to connect, over all hosts.
    package init(
        _ target: Target,
        storeID: String,
        pollInterval: Duration = .seconds(5),
        connectLimit: Duration = .seconds(5),
        _ handlers: Handlers
    ) throws(PostgreSQLError) {
        self.target = target
        channel = Announcement.channel(ofStore: storeID)
        self.pollInterval = pollInterval
        self.connectLimit = connectLimit
        self.handlers = handlers
        wake = try Wake()
        interruption = try Interruption()
    }

    /// Begins to connect; false if the system gives no thread. Called once.
    package func start() -> Bool {
        OwnThread.start { self.run() }
    }

    /// Announces that a file has a newer version, soon and without waiting.
    package func announce(_ growth: Announcement.Growth) {
        let isFirst = state.withLock { $0.outbox.append(growth) }
        if isFirst { wake.signal() }
    }

    /// Announces that another session epoch of a client file counts, soon and without waiting.
    ///
    /// While the server is away only the latest ones are kept: uploads of older epochs are fenced.
    package func announceTakeover(of ident: FileIdent, in file: Int64, epoch: Int64) {
        state.withLock { state in
            if state.takeovers.count == Self.takeoverLimit { state.takeovers.removeFirst() }
            state.takeovers.append(.takenOver(file: file, ident: ident, epoch: epoch))
        }
        wake.signal()
    }

    /// Announces a change by an administrator, which its text describes, soon and without waiting.
    package func announceOrder(_ text: String) {
        state.withLock { $0.orders.append(text) }
        wake.signal()
    }

    /// Runs the body on the connection, between its other work; throws while there is none.
    ///
    /// Locks of the session that the body takes are held until it releases them or the connection ends.
    package func perform<Outcome: Sendable>(
        _ body: @escaping @Sendable (Connection) throws -> Outcome
    ) async throws -> Outcome {
        let outcome = Promise<Result<Outcome, any Error>>()
        let isClosed = state.withLock { state in
            if !state.isClosed {
                state.calls.append { connection in
                    outcome.keep(Result { try body(try connection.get()) })
                }
            }
            return state.isClosed
        }
        guard !isClosed else { throw LaneFailure.closed }
        wake.signal()
        return try await outcome.value.get()
    }

    /// Looks at the database soon, as at each poll.
    package func pollSoon() {
        state.withLock { $0.mustPoll = true }
        wake.signal()
    }

    /// Sends what has gathered, and ends the thread and its connection.
    ///
    /// - Parameter grace: then a wait for the server is interrupted.
    package func close(within grace: Duration = .seconds(2)) async {
        state.withLock { $0.isClosed = true }
        wake.signal()
        // A task of its own: the caller may be cancelled, which must not shorten the grace.
        let timer = Task {
            try await Task.sleep(for: grace)
            interruption.interrupt()
        }
        await ended.value
        timer.cancel()
    }

    // MARK: The thread

    private var isClosed: Bool { state.withLock { $0.isClosed } }

    private func run() {
        // Meanwhile the process hears nothing: it looks again sooner than lanes do.
        var reconnection = Reconnection<any Error>(longestPause: .seconds(1))
        var random = SystemRandomNumberGenerator()
        while !isClosed {
            do {
                try work(&reconnection)
            } catch {
                completeCalls(.failure(error))
                guard !isClosed else { break }
                handlers.lost(error)
                reconnection.failed(error, at: .now, using: &random)
                pause(until: reconnection.nextAttempt, error)
            }
        }
        completeCalls(.failure(LaneFailure.closed))
        ended.keep()
    }

    private func completeCalls(_ connection: Result<Connection, any Error>) {
        let calls = state.withLock { state in
            defer { state.calls = [] }
            return state.calls
        }
        for call in calls { call(connection) }
    }

    /// Ends with an error, or when the connection is to be closed.
    private func work(_ reconnection: inout Reconnection<any Error>) throws {
        let connection = try Connection(
            target,
            deadline: .after(connectLimit),
            interruption: interruption
        )
        try connection.execute("LISTEN \(Target.quoted(channel)); SET synchronous_commit = off")
        try handlers.connected(connection)
        reconnection.succeeded()
        let own = connection.backendID
        var nextPoll = ContinuousClock.now + pollInterval
        var nextGrowth = ContinuousClock.now
        while !isClosed {
            let mayTellGrowth = nextGrowth <= .now
            if try send(on: connection, withGrowth: mayTellGrowth) {
                nextGrowth = .now + Self.growthPause
            }
            completeCalls(.success(connection))
            let hasGrowth = state.withLock { !$0.outbox.isEmpty }
            let end = hasGrowth ? min(nextPoll, nextGrowth) : nextPoll
            let notifications = try connection.notifications(until: Deadline(end), wake: wake)
            for notification in notifications where notification.sender != own {
                guard notification.channel == channel,
                    let announcement = Announcement(payload: notification.payload)
                else { continue }
                handlers.heard(announcement)
                // It says that something has changed, not what.
                if case .controlled = announcement { nextPoll = .now }
            }
            if nextPoll <= .now || takePollRequest() {
                try handlers.poll(connection)
                nextPoll = .now + pollInterval
            }
        }
        try send(on: connection, withGrowth: true)
        try handlers.closing(connection)
    }

    private func takePollRequest() -> Bool {
        state.withLock { state in
            defer { state.mustPoll = false }
            return state.mustPoll
        }
    }

    /// Sends what has gathered. Returns whether growth was among it.
    @discardableResult
    private func send(
        on connection: Connection,
        withGrowth tellsGrowth: Bool
    ) throws(PostgreSQLError) -> Bool {
        let (gathered, hasGrowth) = state.withLock { state -> (ArraySlice<String>, Bool) in
            let takeovers = state.takeovers.map(\.payload)
            state.takeovers = []
            let growth = tellsGrowth ? state.outbox.takePayloads() : []
            return ((growth + takeovers)[...], !growth.isEmpty)
        }
        var payloads = gathered
        while !payloads.isEmpty {
            let steps = payloads.prefix(Self.payloadsAtOnce).map { payload in
                Step("SELECT pg_notify($1, $2)", [.string(channel), .string(payload)])
            }
            try connection.pipeline(steps)
            payloads = payloads.dropFirst(Self.payloadsAtOnce)
        }
        try sendOrders(on: connection)
        return hasGrowth
    }

    /// The epoch counts them, for processes that hear nothing.
    private func sendOrders(on connection: Connection) throws(PostgreSQLError) {
        let orders = state.withLock { $0.orders.takePayloads(atMost: Self.payloadsAtOnce) }
        guard !orders.isEmpty else { return }
        do throws(PostgreSQLError) {
            try connection.pipeline(
                [Step("UPDATE layout SET control_epoch = control_epoch + 1")]
                    + orders.map {
                        Step("SELECT pg_notify($1, $2)", [.string(channel), .string($0)])
                    }
            )
        } catch {
            state.withLock { $0.orders.keepAgain(orders) }
            throw error
        }
        wake.signal()
    }

    /// Announcements that arrive meanwhile stay for the next connection.
    private func pause(until end: ContinuousClock.Instant?, _ error: any Error) {
        guard let end else { return }
        let deadline = Deadline(end)
        while !deadline.hasPassed, !isClosed {
            completeCalls(.failure(error))
            guard (try? wake.wait(until: deadline, unless: interruption)) != nil else { return }
        }
    }
}
