/// The error numbers of sync in the Realm SDKs' apps (features, E2).
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

    /// The SDKs' number for an outcome (wire protocol, 9); nil if they report none of these: for
    /// transient errors, and for connect timeouts, which they call ETIMEDOUT.
    ///
    /// - Parameter action: nil if this end detected the problem, and only retries.
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
    /// Nil also for errors that applications do not see.
    package var sdkCode: SDKErrorCode? {
        guard isReported else { return nil }
        return SDKErrorCode(status, action: action == .transient ? nil : action, isFatal: isFatal)
    }
}

extension SyncStatus {
    /// Whether the SDKs classify it as a sync error, not as a general one.
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
