/// The SDKs' name for an outcome of sync, as the raw value.
package enum SyncStatus: String, Hashable, Sendable {
    case authError = "AuthError"
    case badChangeset = "BadChangeset"
    case badSyncPartitionValue = "BadSyncPartitionValue"
    case connectionClosed = "ConnectionClosed"
    case invalidSchemaChange = "InvalidSchemaChange"
    case invalidSubscriptionQuery = "InvalidSubscriptionQuery"
    case limitExceeded = "LimitExceeded"
    case objectAlreadyExists = "ObjectAlreadyExists"
    case runtimeError = "RuntimeError"
    case syncClientResetRequired = "SyncClientResetRequired"
    case syncCompensatingWrite = "SyncCompensatingWrite"
    case syncConnectFailed = "SyncConnectFailed"
    case syncConnectTimeout = "SyncConnectTimeout"
    case syncPermissionDenied = "SyncPermissionDenied"
    case syncProtocolInvariantFailed = "SyncProtocolInvariantFailed"
    case syncProtocolNegotiationFailed = "SyncProtocolNegotiationFailed"
    case syncSchemaMigrationError = "SyncSchemaMigrationError"
    case syncServerPermissionsChanged = "SyncServerPermissionsChanged"
    case syncUserMismatch = "SyncUserMismatch"
    case syncWriteNotAllowed = "SyncWriteNotAllowed"
    case tlsHandshakeFailed = "TlsHandshakeFailed"
    case unknownError = "UnknownError"
    case wrongSyncType = "WrongSyncType"

    /// The SDKs' number, if the specification gives one.
    package var number: Int? {
        switch self {
        case .runtimeError: 1000
        case .objectAlreadyExists: 1013
        case .badChangeset: 1015
        case .badSyncPartitionValue: 1029
        case .connectionClosed: 1030
        case .invalidSubscriptionQuery: 1031
        case .syncClientResetRequired: 1032
        case .syncCompensatingWrite: 1033
        case .syncPermissionDenied: 1037
        case .syncProtocolInvariantFailed: 1038
        case .syncServerPermissionsChanged: 1040
        case .syncUserMismatch: 1041
        case .wrongSyncType: 1043
        case .syncWriteNotAllowed: 1044
        case .syncSchemaMigrationError: 1046
        case .invalidSchemaChange: 2019
        case .authError, .limitExceeded, .syncConnectFailed, .syncConnectTimeout,
            .syncProtocolNegotiationFailed, .tlsHandshakeFailed, .unknownError:
            nil
        }
    }
}
