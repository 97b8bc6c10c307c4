internal import Coordination
import ServerStore
import Synchronization

/// A write of one server file that waits for its turn, of any outcome type.
protocol FileWrite: AnyObject, Sendable {
    var request: WriteRequest { get }
    /// The messages that the write's task waits for.
    var mail: FileWriteMail { get }
    /// The number of times that another process had the file for too long.
    var lockTimeouts: Int { get }
    func countLockTimeout()
    /// Does the work, and keeps its result; true if the body returned.
    func run(in transaction: PostgreSQLTransaction) -> Bool
    /// The result of the body counts: the transaction has ended.
    func finish()
    /// The transaction failed.
    func fail(_ error: StoreError)
}

/// Messages to the task of a write, one after the other.
final class FileWriteMail: Sendable {
    enum Message: Sendable {
        /// The task runs a transaction for these writes, of which its own is the first.
        case run([any FileWrite])
        case finished
    }

    private let next = Mutex(Promise<Message>())

    func send(_ message: Message) {
        next.withLock { $0 }.keep(message)
    }

    /// For one task.
    func receive() async -> Message {
        let message = await next.withLock { $0 }.value
        next.withLock { $0 = Promise() }
        return message
    }
}

final class BodyOfFileWrite<Outcome: Sendable>: FileWrite {
    private struct State {
        var result: Result<Outcome, any Error>?
        var lockTimeouts = 0
    }

    let mail = FileWriteMail()
    let request: WriteRequest
    private let body: @Sendable (any StoreTransaction) throws -> Outcome
    private let state = Mutex(State())

    init(
        _ request: WriteRequest,
        _ body: @escaping @Sendable (any StoreTransaction) throws -> Outcome
    ) {
        self.request = request
        self.body = body
    }

    var lockTimeouts: Int { state.withLock { $0.lockTimeouts } }

    func countLockTimeout() {
        state.withLock { $0.lockTimeouts += 1 }
    }

    func run(in transaction: PostgreSQLTransaction) -> Bool {
        let result = Result { () throws -> Outcome in
            try transaction.verify(request.session)
            return try body(transaction)
        }
        state.withLock { $0.result = result }
        if case .success = result { return true }
        return false
    }

    func finish() {
        mail.send(.finished)
    }

    func fail(_ error: StoreError) {
        state.withLock { $0.result = .failure(error) }
        mail.send(.finished)
    }

    /// After `finished`.
    func outcome() throws -> Outcome {
        guard let result = state.withLock({ $0.result }) else {
            preconditionFailure("a write that has ended has a result")
        }
        return try result.get()
    }
}
