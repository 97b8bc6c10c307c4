internal import CPostgres
internal import Glibc

/// One connection to a PostgreSQL server, for one thread at a time.
///
/// libpq works without blocking underneath: each wait has a deadline, and ends when another thread
/// uses the `Interruption`. A wait that ends early, a lost connection or a malformed answer closes the
/// connection, since its state is unknown then; what it had asked for may still happen.
///
/// The server ends an abandoned statement within 10 seconds. It is not cancelled: a COMMIT that waits
/// for a replica would count as committed, and no replica has it.
///
/// libpq holds all rows of a pipeline in memory: a server is trusted with how much it sends. It is not
/// trusted with what: each length and type is checked before use.
package final class Connection {
    private enum State {
        case open(OpaquePointer)
        case closed(PostgreSQLError)
    }

    private var state: State
    private let interruption: Interruption
    let responseLimit: Duration
    /// The names of the statements that the server has prepared.
    var prepared: [StatementKey: String] = [:]
    /// The server's identity, which a connection does not outlive.
    var knownIdentity: ServerIdentity?
    /// Numbers the statements; one that failed keeps its number.
    var preparedCount = 0
    /// A random number below 2^63 that no other connection has: what is derived from it ends with the
    /// connection.
    package let nonce = UInt64.random(in: 1...UInt64(Int64.max))
    /// Pipelines that were sent, for tests that count them.
    package internal(set) var roundTrips = 0
    /// Tests make moments of pipelines fail.
    package var observer: ((Moment) throws(PostgreSQLError) -> Void)?

    /// A moment of a pipeline.
    package enum Moment: Hashable, Sendable, CaseIterable {
        case beforeSending
        case sent
        case answered
    }

    /// Equal texts in two places of the program can have one address, with other parameters.
    struct StatementKey: Hashable {
        let text: UnsafePointer<UInt8>
        let types: [TypeID]
    }

    /// Connects to the first host that is writable.
    ///
    /// The deadline is for all hosts: each gets an equal part of the time that is left. A host that
    /// refuses the user, the password or the database ends the search.
    package init(
        _ target: Target,
        deadline: Deadline,
        interruption: Interruption? = nil
    ) throws(PostgreSQLError) {
        if let interruption {
            self.interruption = interruption
        } else {
            self.interruption = try Interruption()
        }
        let opening = ConnectionOpening(target: target, interruption: self.interruption)
        state = .open(try opening.open(until: deadline))
        responseLimit = target.limits.response
    }

    deinit {
        close()
    }

    /// Ends the connection; a transaction that is open is rolled back by the server.
    package func close() {
        close(PostgreSQLError(.misuse, "the connection was closed", connectionIsLost: true))
    }

    /// Ends the connection as a failure of the network does, for tests: neither end knows yet.
    package func cut() {
        guard case .open(let handle) = state else { return }
        shutdown(PQsocket(handle), Int32(SHUT_RDWR))
    }

    /// The error that closed the connection; nil while it is open.
    package var loss: PostgreSQLError? {
        if case .closed(let error) = state { error } else { nil }
    }

    /// The version of the server, such as 150018 for 15.18.
    package var serverVersion: Int {
        guard case .open(let handle) = state else { return 0 }
        return Int(PQserverVersion(handle))
    }

    package enum Transaction: Hashable, Sendable {
        case none
        case open
        /// A statement of it failed: only a rollback is possible.
        case failed
        /// The connection is closed.
        case unknown
    }

    package var transaction: Transaction {
        guard case .open(let handle) = state else { return .unknown }
        return switch PQtransactionStatus(handle) {
        case PQTRANS_IDLE: .none
        case PQTRANS_INTRANS: .open
        case PQTRANS_INERROR: .failed
        default: .unknown
        }
    }

    /// Notices that the server has ended the connection, without a round trip.
    ///
    /// A server that is away without a word is noticed by the next statement only.
    package func checkIsOpen() throws(PostgreSQLError) {
        try exchange { handle throws(PostgreSQLError) in
            // The first call may find the server's reason, the second one the end behind it.
            for _ in 0..<2 {
                try receive(handle)
                guard PQisBusy(handle) == 0 else {
                    throw Self.confused("the server sent what was not asked for")
                }
            }
        }
    }

    // MARK: For the extensions

    /// Runs an exchange with the server; an error that leaves the connection in an unknown state
    /// closes it.
    func exchange<Result>(
        _ body: (OpaquePointer) throws(PostgreSQLError) -> Result
    ) throws(PostgreSQLError) -> Result {
        switch state {
        case .closed(let error):
            throw error.losingConnection
        case .open(let handle):
            do throws(PostgreSQLError) {
                let result = try body(handle)
                return result
            } catch {
                let isUsable = error.sqlState != nil && !error.connectionIsLost
                guard !isUsable || PQstatus(handle) == CONNECTION_BAD else { throw error }
                let error = error.losingConnection
                close(error)
                throw error
            }
        }
    }

    /// Waits until no more is to be sent.
    func flush(_ handle: OpaquePointer, until deadline: Deadline) throws(PostgreSQLError) {
        while true {
            switch PQflush(handle) {
            case 0: return
            case 1:
                // A server that waits for us to read its answers reads nothing either.
                try wait(handle, for: POLLIN | POLLOUT, until: deadline)
                try receive(handle)
            default: throw Self.lost(handle)
            }
        }
    }

    /// The next result, nil at the end of a statement's results.
    func nextResult(
        _ handle: OpaquePointer,
        until deadline: Deadline
    ) throws(PostgreSQLError) -> OpaquePointer? {
        while PQisBusy(handle) == 1 {
            try wait(handle, for: POLLIN, until: deadline)
            try receive(handle)
        }
        return PQgetResult(handle)
    }

    /// Takes the bytes that have arrived.
    func receive(_ handle: OpaquePointer) throws(PostgreSQLError) {
        guard PQconsumeInput(handle) == 1 else { throw Self.lost(handle) }
    }

    @discardableResult
    func wait(
        _ handle: OpaquePointer,
        for events: Int32,
        until deadline: Deadline,
        wake: Int32 = -1
    ) throws(PostgreSQLError) -> Waiting.Outcome {
        let socket = PQsocket(handle)
        guard socket >= 0 else { throw Self.lost(handle) }
        return try Waiting.wait(
            for: events,
            on: socket,
            until: deadline,
            unless: interruption,
            wake: wake
        )
    }

    static func lost(_ handle: OpaquePointer) -> PostgreSQLError {
        let text = String(cString: PQerrorMessage(handle))
        let line = text.split(separator: "\n").first.map(String.init)
        return PostgreSQLError(.unreachable, line ?? "the connection was lost")
    }

    /// An answer that does not fit the request; the connection's state is unknown then.
    static func confused(_ text: String) -> PostgreSQLError {
        PostgreSQLError(.malformed, text, connectionIsLost: true)
    }

    private func close(_ error: PostgreSQLError) {
        guard case .open(let handle) = state else { return }
        state = .closed(error)
        prepared = [:]
        PQfinish(handle)
    }
}
