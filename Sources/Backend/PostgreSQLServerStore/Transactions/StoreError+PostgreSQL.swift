import PostgreSQL
import ServerStore

extension StoreError {
    /// The failure of a statement or connection (server on PostgreSQL, 7.3).
    init(_ error: PostgreSQLError) {
        switch error.condition {
        case .unreachable, .readOnly, .tooManyConnections:
            self.init(.unreachable, "\(error); the store is used again once it can be reached")
        case .locked:
            self.init(.locked, "\(error); another process works on the same data, try again")
        case .mustRetry:
            self.init(.locked, "\(error); other transactions were in conflict, try again")
        case .timedOut:
            self.init(.failed, "\(error); look for the reason in the log of PostgreSQL")
        case .diskFull:
            self.init(.diskFull, "\(error); free disk space of PostgreSQL")
        case .unacceptable:
            self.init(.unacceptable, "\(error); the data cannot be stored")
        case .unusable:
            self.init(
                .unusable,
                "\(error); check the rights of the role and the tables, then restart realm-server"
            )
        case .constraint, .other:
            self.init(.failed, "\(error); try again, and report it if it persists")
        }
    }

    init(_ failure: LaneFailure) {
        switch failure {
        case .full:
            self.init(.locked, "too much work waits for connections to PostgreSQL; try again")
        case .closed: self.init(.failed, "the store is closed; start realm-server again")
        case .noConnection(let error): self.init(error)
        case .unusable(let problem): self.init(.unusable, "PostgreSQL: \(problem)")
        case .noThread:
            self.init(.failed, "the system gives no thread for a connection; raise its limits")
        }
    }

    /// Any error of a transaction that is not its body's own; nil for those.
    init?(ofTransaction error: any Error) {
        switch error {
        case let error as StoreError: self = error
        case let error as PostgreSQLError: self.init(error)
        case let failure as LaneFailure: self.init(failure)
        case let problem as LayoutProblem: self.init(.unusable, "PostgreSQL: \(problem)")
        case .unknownOutcome(let error) as TransactionFailure:
            self.init(.changed, "\(error); it is not known whether a transaction was committed")
        default: return nil
        }
    }
}
