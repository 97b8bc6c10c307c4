/// The owner's choice for unsynced changes (client reset, 3).
public enum ResetMode: String, Hashable, Sendable, CaseIterable {
    /// Recover them; if that is impossible, leave the file as it is and ask.
    case recover = "recover-unsynced-changes"
    /// Recover them; if that is impossible, discard them.
    case recoverOrDiscard = "recover-or-discard-unsynced-changes"
    case discard = "discard-unsynced-changes"
    /// Never automatically: on request, keep the file as a copy and start over.
    case manual = "manual"

    /// Of a realm without a configured mode.
    package static let `default` = ResetMode.recover
}

/// The action that the server requested, as the tracker stores it (client reset, 8).
package enum ResetAction: Int, Hashable, Sendable {
    case clientReset = 1
    case clientResetNoRecovery = 2
    case migrateToFlexibleSync = 3
    case revertToPartitionBasedSync = 4
}

/// The treatment of unsynced changes in one attempt.
package enum ResetMethod: Int, Hashable, Sendable {
    case discard = 0
    case recover = 1
}
