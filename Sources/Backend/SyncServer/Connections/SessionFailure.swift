import Logging
import Query
import ServerMetrics
import ServerStore
import SyncProtocol

/// The end of a session, for its client and the operator (wire protocol, 8).
struct SessionFailure {
    let fault: SessionFault
    /// For the client: without internals of the store.
    let message: String
    /// For the log.
    let reason: String
    let level: Logger.Level
    let backoff: JSONErrorBody.Backoff?
    /// The limit that stopped the client, if one did.
    var limit: MeasuredLimit?

    init(_ error: any Error) {
        switch error {
        case SessionFault.permissionDenied:
            self.init(.permissionDenied, "the user may not read this partition (BIND)")
        case let fault as SessionFault:
            self.init(fault, "the client file does not fit the server's history (IDENT)")
        case let refusal as IntegrationRefusal:
            self.init(refusal)
        case let quota as QuotaExceeded:
            // Never an error that makes the client discard its file: the client must keep its
            // changes.
            self.init(
                .otherError,
                quota.message,
                level: .warning,
                backoff: ConnectionLimits.backoff
            )
            self.limit = .quota
        case let error as SubscriptionSetError:
            self.init(.badQuery, error.description)
        case let error as SubscriptionsRevoked:
            self.init(
                .badClientFile,
                "the subscriptions are not valid any more: \(error.reason)"
            )
        case is ViewTooLarge:
            // The client's view cannot be brought up to date: a fresh copy can.
            self.init(.badClientFileIdent, "too much has changed since the client was here")
        case let undecided as AccessUndecided:
            // Never an error that makes the client discard its file: the program may decide later.
            self.init(
                .otherError,
                "permissions cannot be decided now",
                reason: undecided.reason,
                level: .warning,
                backoff: ConnectionLimits.backoff
            )
        case is SlowClient:
            self.init(
                .otherError,
                "the client receives its bootstrap too slowly",
                backoff: ConnectionLimits.backoff
            )
        case let error as StoreError where error.kind == .unacceptable:
            self.init(
                .badChangeset,
                "bad changeset (UPLOAD): the server cannot store it",
                reason: "\(error)"
            )
        default:
            self.init(
                .otherError,
                "the store cannot be used now",
                reason: "\(error)",
                level: .error,
                backoff: ConnectionLimits.backoff
            )
        }
    }

    static let illegalPartition = SessionFailure(
        .illegalRealmPath,
        "the partition value is malformed, or not of the type of this app (BIND)"
    )

    static let rulesChanged = SessionFailure(.sessionClosed, "permissions changed")
    static let permissionsChanged = SessionFailure(
        .serverPermissionsChanged,
        "permissions changed"
    )
    static let paused = SessionFailure(.sessionClosed, "sync of this app is paused")

    static let backlog = SessionFailure(
        .otherError,
        "too many uploads wait to be integrated",
        level: .warning,
        backoff: ConnectionLimits.backoff,
        limit: .backlog
    )

    /// A write that cannot be undone.
    static func forbidden(_ fault: SessionFault, _ reason: String?) -> SessionFailure {
        SessionFailure(fault, reason ?? "write not allowed")
    }

    private init(_ refusal: IntegrationRefusal) {
        switch refusal {
        case .unknownClientFile:
            self.init(.badClientFileIdent, "bad client file ident")
        case .badServerVersion:
            self.init(.badServerVersion, "bad server version (UPLOAD)")
        case .badChangeset(let reason):
            self.init(.badChangeset, "bad changeset (UPLOAD): \(reason)")
        case .tooMuchHistory:
            self.init(
                .badChangeset,
                "bad changeset (UPLOAD): too much history of the same objects"
            )
        case .expired:
            self.init(.clientFileExpired, "the client file was offline for too long")
        case .schemaChange(let reason):
            self.init(.invalidSchemaChange, "invalid schema change (UPLOAD): \(reason)")
        case .superseded:
            self.init(.sessionClosed, "another session serves this file")
        }
    }

    private init(
        _ fault: SessionFault,
        _ message: String,
        reason: String? = nil,
        level: Logger.Level = .notice,
        backoff: JSONErrorBody.Backoff? = nil,
        limit: MeasuredLimit? = nil
    ) {
        self.fault = fault
        self.message = message
        self.reason = reason ?? message
        self.level = level
        self.backoff = backoff
        self.limit = limit
    }
}

/// Subscriptions were valid before the app's queryable fields changed: their client must start over
/// (flexible sync, 8.4).
struct SubscriptionsRevoked: Error {
    let reason: String
}
