/// The numbers under which apps on the Realm SDKs know errors of sync (features, E2).
package enum SDKErrorCode: Int, Hashable, Sendable, CaseIterable {
    case clientSession = 4
    case clientUser = 5
    case internalError = 6
    case clientReset = 7
    case underlyingAuth = 8
    case permissionDenied = 9
    case invalidSubscriptions = 10
    case writeRejected = 11
    case connectionFailed = 12
    case tlsHandshakeFailed = 13
    case serverWarning = 14

    /// What the SDKs make of an outcome (wire protocol, 9); nil where they report none of these: what
    /// passes by itself, and a connection that takes too long, which they call ETIMEDOUT.
    ///
    /// - Parameter action: nil where this end found out for itself, and only tries again.
    package init?(_ status: SyncStatus, action: ServerAction?, isFatal: Bool) {
        switch status {
        case .syncPermissionDenied: self = .permissionDenied
        case .authError: self = .clientUser
        case .syncCompensatingWrite: self = .writeRejected
        case .syncConnectFailed: self = .connectionFailed
        case .tlsHandshakeFailed: self = .tlsHandshakeFailed
        case .invalidSubscriptionQuery: self = .invalidSubscriptions
        case .syncConnectTimeout: return nil
        case _ where action?.isClientReset == true: self = .clientReset
        case _ where action == .transient: return nil
        case _ where status.isOfSync: self = .clientSession
        case _ where action == .warning: self = .serverWarning
        default:
            guard isFatal else { return nil }
            self = .internalError
        }
    }
}

extension ServerProblem {
    package func sdkCode(isFatal: Bool) -> SDKErrorCode? {
        SDKErrorCode(status, action: action ?? .applicationBug, isFatal: isFatal)
    }
}

extension ConnectionReaction {
    /// Nil also for what applications do not hear of.
    package var sdkCode: SDKErrorCode? {
        guard isReported else { return nil }
        return SDKErrorCode(status, action: action == .transient ? nil : action, isFatal: isFatal)
    }
}

extension SyncStatus {
    /// Whether the SDKs file it under sync, and not under errors of any kind.
    fileprivate var isOfSync: Bool {
        switch self {
        case .badSyncPartitionValue, .connectionClosed, .invalidSchemaChange,
            .invalidSubscriptionQuery, .syncClientResetRequired, .syncCompensatingWrite,
            .syncConnectFailed, .syncConnectTimeout, .syncPermissionDenied,
            .syncProtocolInvariantFailed, .syncProtocolNegotiationFailed, .syncSchemaMigrationError,
            .syncServerPermissionsChanged, .syncUserMismatch, .syncWriteNotAllowed,
            .tlsHandshakeFailed, .wrongSyncType:
            true
        case .authError, .badChangeset, .limitExceeded, .objectAlreadyExists, .runtimeError,
            .unknownError:
            false
        }
    }
}
