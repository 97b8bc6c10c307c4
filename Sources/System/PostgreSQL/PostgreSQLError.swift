/// The reason why the server did not do what it was asked to.
///
/// It holds neither values of statements nor secrets: of the server's report only the code, the name of
/// a constraint and, where it cannot quote values, the message.
package struct PostgreSQLError: Error, Hashable, Sendable {
    package enum Cause: Hashable, Sendable {
        /// The server reported it, with its five-character SQLSTATE.
        case server(sqlState: String)
        /// No connection could be made, or it was lost.
        case unreachable
        /// The deadline passed.
        case timedOut
        /// Another thread ended the wait.
        case interrupted
        /// The server sent bytes that do not follow the protocol or the expected types.
        case malformed
        /// The value can never be sent: it is too large.
        case tooLarge
        /// This process lacks what a connection needs: a password, a file, memory or a descriptor.
        case unavailable
        /// The connection was used in a way that its documentation excludes.
        case misuse
    }

    package let cause: Cause
    /// One line for people, of at most 300 characters and without control characters.
    package let message: String
    /// The constraint that a statement violated (SQLSTATE class 23).
    package let constraint: String?
    /// The position of the step in its pipeline, from 0.
    package let step: Int?
    /// Whether the connection cannot be used any more.
    package let connectionIsLost: Bool

    init(
        _ cause: Cause,
        _ message: String,
        constraint: String? = nil,
        step: Int? = nil,
        connectionIsLost: Bool = false
    ) {
        self.cause = cause
        self.message = ServerText.line(message)
        self.constraint = constraint.map { ServerText.line($0) }
        self.step = step
        self.connectionIsLost = connectionIsLost || Self.endsConnection(cause)
    }

    /// The code of the server's report; nil for errors that are not the server's.
    package var sqlState: String? {
        if case .server(let state) = cause { state } else { nil }
    }

    /// The same error of a connection that cannot be used any more.
    var losingConnection: PostgreSQLError {
        PostgreSQLError(
            cause,
            message,
            constraint: constraint,
            step: step,
            connectionIsLost: true
        )
    }

    private static func endsConnection(_ cause: Cause) -> Bool {
        switch cause {
        case .server(let state):
            state.hasPrefix("08") || ["57P01", "57P02", "57P03", "57P05", "25P03"].contains(state)
        case .unreachable, .timedOut, .interrupted: true
        case .malformed, .tooLarge, .unavailable, .misuse: false
        }
    }

    static let timedOut = PostgreSQLError(.timedOut, "the server did not answer in time")
    static let interrupted = PostgreSQLError(.interrupted, "the wait was interrupted")

    /// COMMIT of a transaction that had failed: the server rolled it back.
    package static let rolledBack = PostgreSQLError(
        .server(sqlState: "25P02"),
        "the transaction had failed and was rolled back"
    )

    package static func malformed(_ message: String) -> PostgreSQLError {
        PostgreSQLError(.malformed, message)
    }
}

extension PostgreSQLError: CustomStringConvertible {
    package var description: String {
        sqlState.map { "PostgreSQL error \($0): \(message)" } ?? "PostgreSQL: \(message)"
    }
}
