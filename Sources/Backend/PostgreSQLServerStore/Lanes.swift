internal import Coordination
internal import Dispatch
package import PostgreSQL
internal import Synchronization

/// A pool of connections, each on a thread of its own (server on PostgreSQL, 9).
///
/// Work with a database blocks: bodies compute, and wait for the server. Threads of tasks must do
/// neither for long. A lane connects when it first has a job, and again after a loss.
package final class Lanes: Sendable {
    /// Looks at a new connection; an error discards it.
    package typealias Check = @Sendable (Connection) throws(LaneFailure) -> Void
    /// Gets a connection, or the failure to open one, and returns the delivery of its result.
    ///
    /// The result is delivered when the lane is free again: then no transaction of the job holds a lock,
    /// and the next job finds the lane.
    private typealias Job = @Sendable (Result<Connection, LaneFailure>) -> Delivery
    private typealias Delivery = @Sendable () -> Void

    private struct State {
        var pool: LanePool<Job>
        var reconnection = Reconnection<PostgreSQLError>()
        var random = SystemRandomNumberGenerator()
    }

    private let target: Target
    private let connectLimit: Duration
    /// The longest time to ask what became of a COMMIT without an answer.
    let outcomeLimit: Duration
    private let check: Check
    private let state: Mutex<State>
    private let interruption: Interruption
    private let wakeUps = DispatchSemaphore(value: 0)
    private let ended = Promise<Void>()

    /// - Parameters:
    ///   - connectLimit: the longest time for one attempt to connect, over all hosts.
    ///   - outcomeLimit: the longest time to ask what became of a COMMIT without an answer.
    ///   - check: runs on each new connection before its first job.
    package init(
        _ target: Target,
        limits: LaneLimits = LaneLimits(),
        connectLimit: Duration = .seconds(5),
        outcomeLimit: Duration = .seconds(10),
        check: @escaping Check = { _ in }
    ) throws(PostgreSQLError) {
        self.target = target
        self.connectLimit = connectLimit
        self.outcomeLimit = outcomeLimit
        self.check = check
        interruption = try Interruption()
        state = Mutex(State(pool: LanePool(limits: limits)))
    }

    /// Runs the body on a lane, in the order of the calls.
    ///
    /// A transaction that the body leaves open is rolled back. Throws `LaneFailure` if the body did not
    /// run, and the body's errors otherwise.
    package func perform<Outcome: Sendable>(
        _ body: @escaping @Sendable (Connection) throws -> Outcome
    ) async throws -> Outcome {
        let outcome = Promise<Result<Outcome, any Error>>()
        submit { connection in
            let result = Result { try body(try connection.get()) }
            return { outcome.keep(result) }
        }
        return try await outcome.value.get()
    }

    /// Refuses further jobs, waits for those that run, and closes all connections.
    ///
    /// - Parameter grace: then the waits for the server are interrupted. Bodies that compute still end
    ///   in their own time.
    package func close(within grace: Duration) async {
        beginToClose()
        await withTaskGroup { group in
            group.addTask {
                try? await Task.sleep(for: grace)
                if !Task.isCancelled { self.interruption.interrupt() }
            }
            await ended.value
            group.cancelAll()
        }
    }

    /// Refuses further jobs; the connections end with the jobs that run.
    func beginToClose() {
        let (jobs, sleeping, hasEnded) = state.withLock { state in
            let (jobs, sleeping) = state.pool.close()
            return (jobs, sleeping, state.pool.hasEnded)
        }
        for job in jobs { job(.failure(.closed))() }
        for _ in 0..<sleeping { wakeUps.signal() }
        if hasEnded { ended.keep() }
    }

    /// The current number of lanes.
    package var count: Int { state.withLock { $0.pool.laneCount } }

    private func submit(_ job: @escaping Job) {
        switch state.withLock({ $0.pool.submit(job, at: .now) }) {
        case .waits: break
        case .wakesLane: wakeUps.signal()
        case .startsLane: startLane()
        case .refused: job(.failure(.full))()
        case .closed: job(.failure(.closed))()
        }
    }

    // MARK: One lane

    private func startLane() {
        if !OwnThread.start({ self.runLane() }) {
            for job in state.withLock({ $0.pool.laneDidNotStart() }) {
                job(.failure(.noThread))()
            }
            laneEnded()
        }
    }

    private func runLane() {
        var connection: Connection?
        var delivery: Delivery?
        while true {
            let isConnected = connection != nil
            let turn = state.withLock { $0.pool.nextTurn(isConnected: isConnected) }
            delivery?()
            delivery = nil
            switch turn {
            case .run(let job):
                delivery = run(job, on: &connection)
                guard delivery != nil else { return }
            case .sleep:
                wakeUps.wait()
                state.withLock { $0.pool.wokeUp() }
            case .end:
                connection?.close()
                return laneEnded()
            }
        }
    }

    private func laneEnded() {
        if state.withLock({ $0.pool.hasEnded }) { ended.keep() }
    }

    /// Nil if the lane must end, and another one does the job.
    private func run(_ job: @escaping Job, on connection: inout Connection?) -> Delivery? {
        let lent: Connection
        do throws(LaneFailure) {
            lent = try connect(connection)
        } catch {
            connection = nil
            if case .noConnection(let reason) = error, reason.condition == .tooManyConnections,
                state.withLock({ $0.pool.shrink(returning: job, at: .now) })
            {
                return nil
            }
            return job(.failure(error))
        }
        let delivery = job(.success(lent))
        connection = isClean(lent) ? lent : nil
        return delivery
    }

    /// The connection of before, or a new one.
    private func connect(_ connection: Connection?) throws(LaneFailure) -> Connection {
        if let connection, (try? connection.checkIsOpen()) != nil { return connection }
        if let error = state.withLock({ $0.reconnection.refusal(at: .now) }) {
            throw .noConnection(error)
        }
        let connection = try open()
        try check(connection)
        state.withLock { $0.reconnection.succeeded() }
        return connection
    }

    private func open() throws(LaneFailure) -> Connection {
        do throws(PostgreSQLError) {
            return try Connection(
                target,
                deadline: .after(connectLimit),
                interruption: interruption
            )
        } catch {
            // A full server is there: other lanes have connections.
            if error.condition != .tooManyConnections {
                state.withLock { $0.reconnection.failed(error, at: .now, using: &$0.random) }
            }
            throw .noConnection(error)
        }
    }

    /// Ends a transaction that a body left open; false if the connection cannot be used again.
    private func isClean(_ connection: Connection) -> Bool {
        switch connection.transaction {
        case .none: return true
        case .unknown: return false
        case .open, .failed:
            guard (try? connection.run("ROLLBACK")) != nil else { return false }
            return connection.transaction == .none
        }
    }
}
