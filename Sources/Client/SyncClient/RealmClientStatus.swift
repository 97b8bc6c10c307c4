package import LocalRealm
package import SyncProtocol

/// The status of a realm and its session at one moment.
package struct RealmClientStatus: Sendable {
    package let phase: SessionPhase
    package let file: LocalRealmStatus
    package let acknowledgedVersion: UInt64
    package let standing: DownloadStatus
    /// Milliseconds since 1970; nil if it has not happened since the realm was opened.
    package let lastConnected: Int64?
    package let lastUploaded: Int64?
    package let lastDownloaded: Int64?
    /// The share of the running bootstrap that has come; nil if there is none.
    package let bootstrapEstimate: Double?
}

/// The download progress of a realm.
package struct DownloadStatus: Sendable, Equatable {
    /// Whether a download has ever been completed: one that was broken off does not count.
    package let isFirstFinished: Bool
    /// Whether one has been completed since the file was opened.
    package let hasCompleted: Bool
    /// Since the file was opened.
    package let age: Duration

    package init(isFirstFinished: Bool, hasCompleted: Bool, age: Duration) {
        self.isFirstFinished = isFirstFinished
        self.hasCompleted = hasCompleted
        self.age = age
    }
}

/// The activity of a session, in the terms of interfaces, 5.
package enum SessionPhase: Sendable, Equatable {
    /// No connection; the reason is the one of the last attempt.
    case offline(OfflineCause)
    /// Part of no connection: local writes are captured, and stay here.
    case detached
    /// An attempt is being made; the reason is the one of the attempt before, if that failed.
    case connecting(after: OfflineCause = .notTried)
    /// Bound to the server.
    case bound
    /// The server refused this realm for now; the session retries automatically.
    case backingOff(SessionIssue)
    /// The server refused this realm; nothing happens until the issue is dealt with.
    case inactive(SessionIssue)
}

/// The reason why there is no connection.
package enum OfflineCause: Sendable, Equatable {
    /// No attempt has been made yet.
    case notTried
    /// The last attempt failed; the next follows the back-off.
    case backoff(reason: String, error: ConnectionError? = nil)
    /// The server ended the connection permanently: no attempt is made until one is requested.
    case serverError(reason: String, error: ConnectionError? = nil)
    /// The user's log-in is needed first; the code is one of `docs/errors.md`.
    case loginRequired(reason: String, code: String = "auth.refused")
}

/// An error that ended a connection, or prevented one, as applications receive it (wire protocol,
/// 2.5, 2.7 and 9).
package struct ConnectionError: Sendable, Equatable {
    /// A code of `docs/errors.md`.
    package let code: String
    /// Nil if the SDKs tell no application.
    package let sdkCode: SDKErrorCode?

    package init(code: String, sdkCode: SDKErrorCode?) {
        self.code = code
        self.sdkCode = sdkCode
    }

    init(_ problem: ServerProblem) {
        self.init(
            code: problem.dottedCode,
            sdkCode: problem.sdkCode(isFatal: !problem.tryAgain)
        )
    }

    init(_ reaction: ConnectionReaction) {
        let code =
            switch (reaction.sdkCode, reaction.reason) {
            case (_, .serverError(let number)): ServerProblem.dottedCode(number)
            case (.connectionFailed?, _), (nil, .connectFailed), (nil, .connectTimedOut):
                "connection.failed"
            case (.tlsHandshakeFailed?, _): "connection.tls_failed"
            default: "connection.ended"
            }
        self.init(code: code, sdkCode: reaction.sdkCode)
    }
}

/// The reason why a session cannot continue, and the required reaction.
package struct SessionIssue: Sendable, Equatable {
    package enum Kind: Sendable, Equatable {
        case clientReset
        case permissionDenied
        case schemaConflict
        case serverError
        /// The local file, not the server, failed.
        case localRealm
    }

    package let kind: Kind
    /// A code of `docs/errors.md`.
    package let code: String
    package let message: String
    /// The number that the Realm SDKs give this error, if they know it.
    package let sdkCode: SDKErrorCode?
    /// URL of the server's log of the error.
    package let logURL: String?

    package init(
        kind: Kind,
        code: String,
        message: String,
        sdkCode: SDKErrorCode? = nil,
        logURL: String? = nil
    ) {
        self.kind = kind
        self.code = code
        self.message = message
        self.sdkCode = sdkCode
        self.logURL = logURL
    }
}

/// The outcome of a sync request.
package enum SyncOutcome: Sendable, Equatable {
    case done
    /// The codes are those of `docs/errors.md`; nil if there is none for it.
    case offline(reason: String, code: String? = nil)
    case loginRequired(reason: String, code: String = "auth.refused")
    case failed(reason: String, code: String? = nil)
    case refused(SessionIssue)
    /// The reason is the one for which the server could not be reached, if it could not.
    case timedOut(OfflineCause = .notTried)
}

extension OfflineCause {
    /// For people; nil if no attempt has failed.
    package var reason: String? {
        switch self {
        case .notTried: nil
        case .backoff(let reason, _), .serverError(let reason, _), .loginRequired(let reason, _):
            reason
        }
    }

    /// The number of the Realm SDKs; nil if they report no such cause.
    package var sdkCode: SDKErrorCode? {
        switch self {
        case .notTried: nil
        case .backoff(_, let error), .serverError(_, let error): error?.sdkCode
        case .loginRequired: .clientUser
        }
    }

    /// A code of `docs/errors.md`; nil if no code fits.
    package var code: String? {
        switch self {
        case .notTried: nil
        case .backoff(_, let error), .serverError(_, let error): error?.code
        case .loginRequired(_, let code): code
        }
    }
}

extension SessionPhase {
    /// The reason for which the server could not be reached.
    var offlineCause: OfflineCause {
        switch self {
        case .offline(let cause), .connecting(after: let cause): cause
        case .detached, .bound, .backingOff, .inactive: .notTried
        }
    }
}
