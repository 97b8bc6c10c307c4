/// The action that an error requires of the client, besides ending or resuming the session (wire
/// protocol, 9).
package enum ServerAction: String, Hashable, Sendable, CaseIterable {
    case transient = "Transient"
    case warning = "Warning"
    case applicationBug = "ApplicationBug"
    case protocolViolation = "ProtocolViolation"
    case deleteRealm = "DeleteRealm"
    case clientReset = "ClientReset"
    case clientResetNoRecovery = "ClientResetNoRecovery"
    case migrateToFlexibleSync = "MigrateToFLX"
    case revertToPartitionBasedSync = "RevertToPBS"
    case migrateSchema = "MigrateSchema"
    case refreshUser = "RefreshUser"
    case refreshLocation = "RefreshLocation"
    case logOutUser = "LogOutUser"

    /// The action of that name; an unknown or empty one counts as a bug of the application.
    package init(name: String) {
        self = ServerAction(rawValue: name) ?? .applicationBug
    }

    /// Whether it is about the user or the address, so that only another connection can help: with
    /// another token, to another address, or after another log-in.
    package var needsNewConnection: Bool {
        switch self {
        case .refreshUser, .refreshLocation, .logOutUser: true
        case .transient, .warning, .applicationBug, .protocolViolation, .deleteRealm, .clientReset,
            .clientResetNoRecovery, .migrateToFlexibleSync, .revertToPartitionBasedSync,
            .migrateSchema:
            false
        }
    }

    /// Whether the client must start over from a fresh copy.
    package var isClientReset: Bool {
        switch self {
        case .clientReset, .clientResetNoRecovery: true
        case .transient, .warning, .applicationBug, .protocolViolation, .deleteRealm,
            .migrateToFlexibleSync, .revertToPartitionBasedSync, .migrateSchema, .refreshUser,
            .refreshLocation, .logOutUser:
            false
        }
    }
}
