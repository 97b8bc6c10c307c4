/// What the owner of a realm wants to happen to unsynced changes (client reset, 3).
public enum ResetMode: String, Hashable, Sendable, CaseIterable {
    /// Recover them; if that is impossible, leave the file alone and ask.
    case recover = "recover-unsynced-changes"
    /// Recover them; if that is impossible, discard them.
    case recoverOrDiscard = "recover-or-discard-unsynced-changes"
    case discard = "discard-unsynced-changes"
    /// Never automatically: when told to, keep the file as a copy and start over.
    case manual = "manual"

    /// Of a realm whose configuration names none.
    package static let `default` = ResetMode.recover
}

/// What the server asked for, as the tracker stores it (client reset, 8).
package enum ResetAction: Int, Hashable, Sendable {
    case clientReset = 1
    case clientResetNoRecovery = 2
    case migrateToFlexibleSync = 3
    case revertToPartitionBasedSync = 4
}

/// What one attempt does with unsynced changes.
package enum ResetMethod: Int, Hashable, Sendable {
    case discard = 0
    case recover = 1
}
