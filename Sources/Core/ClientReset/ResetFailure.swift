package import Changesets
package import Schemas

/// The reason why a reset is not automatic but left to the owner (client reset, 11.1).
package enum ResetFailure: Error, Hashable, Sendable {
    case manualMode
    /// The server does not permit recovery, and the mode requires it.
    case recoveryNotPermitted
    /// An earlier reset of the same kind did not help.
    case cycle(startedAt: Int64)
    /// The fresh copy could not be downloaded.
    case noFreshCopy(String)
    /// The server wants to change the realm between partition-based and flexible sync, and cannot be
    /// followed.
    case flexibleSync(String)
    /// A handler that must see the realm first failed.
    case handlerFailed(String)

    // The local schema has something that the server's lacks or contradicts.
    case classesRemoved([Text])
    /// Each with its local definition.
    case propertiesRemoved(Text, [String])
    case schemaConflict([SchemaConflict])

    // The unsynced changes cannot be replayed.
    case eraseOfClass(Text)
    case eraseOfProperty(Text, in: Text)
    case impossibleChange(BadInstruction)
    case unreadableChange(DecodeError)

    /// The stable code for logs, events and documentation (interfaces, 5).
    package var code: String {
        switch self {
        case .manualMode: "reset.manual"
        case .recoveryNotPermitted: "reset.recovery_not_permitted"
        case .cycle: "reset.cycle"
        case .noFreshCopy: "reset.no_fresh_copy"
        case .flexibleSync: "reset.flexible_sync"
        case .handlerFailed: "reset.handler_failed"
        case .classesRemoved, .propertiesRemoved, .schemaConflict: "reset.schema_breaking"
        case .eraseOfClass, .eraseOfProperty, .impossibleChange, .unreadableChange:
            "reset.not_recoverable"
        }
    }

    /// Whether the unsynced changes block the reset, so that discarding them would help.
    package var isOfRecovery: Bool {
        switch self {
        case .eraseOfClass, .eraseOfProperty, .impossibleChange, .unreadableChange: true
        case .manualMode, .recoveryNotPermitted, .cycle, .noFreshCopy, .flexibleSync,
            .handlerFailed, .classesRemoved, .propertiesRemoved, .schemaConflict:
            false
        }
    }

    /// Whether starting over from an empty file would help.
    package var isHelpedByStartingOver: Bool {
        switch self {
        case .flexibleSync: false
        case .manualMode, .recoveryNotPermitted, .cycle, .noFreshCopy, .handlerFailed,
            .classesRemoved, .propertiesRemoved, .schemaConflict, .eraseOfClass, .eraseOfProperty,
            .impossibleChange, .unreadableChange:
            true
        }
    }
}

extension ResetFailure: CustomStringConvertible {
    package var description: String {
        switch self {
        case .manualMode:
            "client resets of this realm are carried out by hand"
        case .recoveryNotPermitted:
            "the server does not permit recovery of unsynced changes for this client"
        case .cycle:
            "an earlier client reset did not bring the realm back in sync; giving up to prevent a cycle"
        case .noFreshCopy(let reason):
            "the server's state could not be downloaded: \(reason)"
        case .flexibleSync(let reason):
            "the server's change of the kind of sync cannot be followed: \(reason)"
        case .handlerFailed(let handlers):
            "a handler that must see the realm first failed: \(handlers)"
        case .classesRemoved(let names):
            "the server has no class \(Self.list(names)) any more"
        case .propertiesRemoved(let className, let properties):
            "the server's class \(className) lacks: "
                + properties.joined(separator: "; ")
        case .schemaConflict(let conflicts):
            "the server's schema contradicts the realm's: "
                + conflicts.map { conflict in
                    let name = conflict.property.map { "\(conflict.className).\($0)" }
                    return "\(name ?? "\(conflict.className)") is \(conflict.existing) here, "
                        + "\(conflict.declared) on the server"
                }.joined(separator: "; ")
        case .eraseOfClass(let name):
            "Types cannot be erased during client reset recovery: '\(name)'"
        case .eraseOfProperty(let name, let className):
            "Properties cannot be erased during client reset recovery: '\(className).\(name)'"
        case .impossibleChange(let error):
            "an unsynced change does not fit the server's state: \(error)"
        case .unreadableChange(let error):
            "an unsynced changeset cannot be read: \(error)"
        }
    }

    private static func list(_ names: [Text]) -> String {
        names.map(\.description).joined(separator: ", ")
    }
}
