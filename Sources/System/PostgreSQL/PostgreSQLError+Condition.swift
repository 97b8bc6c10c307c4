extension PostgreSQLError {
    /// Conditions that callers handle (server on PostgreSQL, 7.3).
    package enum Condition: Hashable, Sendable {
        /// The server is away, restarts, or ended this connection; connect again later.
        case unreachable
        /// A lock was not free within `lock_timeout`.
        case locked
        /// A deadlock or a conflict of transactions; running it again can succeed.
        case mustRetry
        /// The statement ran into `statement_timeout`, or was cancelled.
        case timedOut
        case diskFull
        /// The server is a standby now; another host may be writable.
        case readOnly
        case tooManyConnections
        /// A row violates a constraint.
        case constraint
        /// The data can never be stored: an invalid value, or one above a limit (classes 22 and 54).
        case unacceptable
        /// Missing rights, tables or database, refused log-in, or damage: needs an administrator.
        case unusable
        case other
    }

    package var condition: Condition {
        switch cause {
        case .unreachable, .timedOut, .interrupted: .unreachable
        case .tooLarge: .unacceptable
        case .malformed, .unavailable, .misuse: .other
        case .server(let state): Self.condition(of: state)
        }
    }

    private static func condition(of state: String) -> Condition {
        switch state {
        case "57P01", "57P02", "57P03", "57P05", "25P03": .unreachable
        case "55P03": .locked
        case "40001", "40P01": .mustRetry
        case "57014": .timedOut
        case "53100": .diskFull
        case "25006": .readOnly
        case "53300": .tooManyConnections
        case "42501", "42P01", "57P04": .unusable
        default: condition(ofClass: String(state.prefix(2)))
        }
    }

    private static func condition(ofClass state: String) -> Condition {
        switch state {
        case "08": .unreachable
        case "22", "54": .unacceptable
        case "23": .constraint
        case "28", "3D", "3F", "XX": .unusable
        default: .other
        }
    }
}
