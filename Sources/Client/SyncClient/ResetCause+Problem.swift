package import ClientReset
package import SyncProtocol

extension ResetCause {
    /// The code of `docs/errors.md`.
    package var dottedCode: String {
        switch origin {
        case .alteredTables: "schema.altered"
        case .restoredFile: "reset.restored_file"
        case .request: "reset.requested"
        case .server:
            code == Int(CloseCode.messageTooBig.rawValue)
                ? "connection.message_too_big" : ServerProblem.dottedCode(code)
        }
    }

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
