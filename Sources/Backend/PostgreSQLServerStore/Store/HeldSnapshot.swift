import Coordination
import Dispatch
import PostgreSQL
import ServerStore
import Synchronization

/// One state of the database, held by a transaction on a lane for as long as its borrower needs it, up to
/// a limit: the database keeps what others overwrite meanwhile (server on PostgreSQL, 7).
final class HeldSnapshot: HeldState {
    private typealias Work = @Sendable (Result<PostgreSQLTransaction, StoreError>) -> Void

    private enum State {
        case held([Work])
        case ended(StoreError)
    }

    private let state = Mutex(State.held([]))
    private let changes = DispatchSemaphore(value: 0)
    /// Nil once the state is fixed.
    private let opening = Promise<StoreError?>()
    private let limit: Duration

    init(limit: Duration) {
        self.limit = limit
    }

    // MARK: The borrower

    /// Returns when the state is fixed.
    func open() async throws(StoreError) {
        if let error = await opening.value { throw error }
    }

    func read<Outcome: Sendable>(
        _ body: @escaping @Sendable (any StoreReading) throws -> Outcome
    ) async throws -> Outcome {
        let outcome = Promise<Result<Outcome, any Error>>()
        submit { transaction in
            outcome.keep(Result { try body(try transaction.get()) })
        }
        return try await outcome.value.get()
    }

    /// By a lock of the transaction, which ends with its connection.
    func claimSnapshot(of file: ServerFileID) async throws -> Bool {
        let outcome = Promise<Result<Bool, any Error>>()
        submit { transaction in
            outcome.keep(
                Result {
                    let rows = try transaction.get().runner.read(SnapshotRows.claiming(file))
                    return try rows.bool(0, 0)
                }
            )
        }
        return try await outcome.value.get()
    }

    /// Gives the state back.
    func end() {
        end(StoreError(.failed, "the held state was given back"))
    }

    private func submit(_ work: @escaping Work) {
        let error = state.withLock { state -> StoreError? in
            switch state {
            case .held(let works):
                state = .held(works + [work])
                return nil
            case .ended(let error): return error
            }
        }
        if let error { work(.failure(error)) } else { changes.signal() }
    }

    // MARK: The lane

    /// The lane has no connection.
    func fail(_ error: StoreError) {
        opening.keep(error)
        end(error)
    }

    /// Reads for the borrower until it gives the state back.
    func serve(on connection: Connection, _ make: TransactionMaker) throws(PostgreSQLError) {
        // The first statement fixes the state.
        try connection.pipeline([TransactionMaker.beginReading, Step("SELECT FROM layout")])
        opening.keep(nil)
        let transaction = make.reading(on: connection, .alone)
        let deadline = ContinuousClock.now + limit
        while let works = next(until: deadline) {
            for work in works { work(.success(transaction)) }
        }
    }

    /// Nil at the end.
    private func next(until deadline: ContinuousClock.Instant) -> [Work]? {
        while true {
            let works = state.withLock { state -> [Work]? in
                guard case .held(let works) = state else { return nil }
                state = .held([])
                return works
            }
            guard let works else { return nil }
            if !works.isEmpty { return works }
            let rest = deadline - .now
            // Rounded up, so that the wait does not end before.
            let wake = DispatchTime.now() + .milliseconds(Int(Deadline(deadline).milliseconds))
            if rest <= .zero || changes.wait(timeout: wake) == .timedOut, deadline <= .now {
                end(
                    StoreError(
                        .failed,
                        "a state of the store was held for more than \(limit); try again later"
                    )
                )
            }
        }
    }

    private func end(_ error: StoreError) {
        let works = state.withLock { state -> [Work] in
            guard case .held(let works) = state else { return [] }
            state = .ended(error)
            return works
        }
        for work in works { work(.failure(error)) }
        changes.signal()
    }
}
