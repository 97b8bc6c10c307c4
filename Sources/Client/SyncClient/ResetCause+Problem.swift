package import ClientReset
package import SyncProtocol

extension ResetCause {
    /// Nil for a problem whose sender does not ask for a reset, even if its code does (client
    /// reset, 2.1).
    package init?(_ problem: ServerProblem) {
        let action: ResetAction
        switch problem.action {
        case .clientReset: action = .clientReset
        case .clientResetNoRecovery: action = .clientResetNoRecovery
        case .migrateToFlexibleSync: action = .migrateToFlexibleSync
        case .revertToPartitionBasedSync: action = .revertToPartitionBasedSync
        default: return nil
        }
        var query: String?
        if case .migration(let partitionQuery)? = problem.details { query = partitionQuery }
        self.init(
            action: action,
            code: problem.code,
            message: problem.message,
            partitionQuery: query
        )
    }
}
