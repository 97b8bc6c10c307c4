package import LocalRealm
package import SyncProtocol

/// Where a realm and its session stand at one moment.
package struct RealmClientStatus: Sendable {
    package let phase: SessionPhase
    package let file: LocalRealmStatus
    package let acknowledgedVersion: UInt64
    package let standing: DownloadStatus
    /// Milliseconds since 1970; nil if it has not happened since the realm was opened.
    package let lastConnected: Int64?
    package let lastUploaded: Int64?
    package let lastDownloaded: Int64?
}

/// How far a realm has been downloaded.
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

/// What a session is doing, in the terms of interfaces, 5.
package enum SessionPhase: Sendable, Equatable {
    /// No connection; the reason is the one of the last attempt.
    case offline(OfflineCause)
    /// Part of no connection: local writes are captured, and stay here.
    case detached
    case connecting
    /// Bound to the server.
    case bound
    /// The server refused this realm for now; the session binds again by itself.
    case backingOff(SessionIssue)
    /// The server refused this realm; nothing happens until the issue is dealt with.
    case inactive(SessionIssue)
}

/// Why there is no connection.
package enum OfflineCause: Sendable, Equatable {
    /// No attempt has been made yet.
    case notTried
    /// The last attempt failed, and the next comes when the back-off is over.
    case backoff(reason: String, error: ConnectionError? = nil)
    /// The server ended the connection for good: no attempt is made until somebody asks for one.
    case serverError(reason: String, error: ConnectionError? = nil)
    /// The user's log-in is needed first.
    case loginRequired(reason: String)
}

/// What ended a connection, or kept it from coming about, where applications hear of that (wire protocol,
/// 2.5, 2.7 and 9).
package struct ConnectionError: Sendable, Equatable {
    /// The number of the server's error, or a word for what this end saw.
    package let code: String
    package let sdkCode: SDKErrorCode

    package init(code: String, sdkCode: SDKErrorCode) {
        self.code = code
        self.sdkCode = sdkCode
    }

    init?(_ problem: ServerProblem) {
        guard let number = problem.sdkCode(isFatal: !problem.tryAgain) else { return nil }
        self.init(code: "\(problem.code)", sdkCode: number)
    }

    init?(_ reaction: ConnectionReaction) {
        guard let number = reaction.sdkCode else { return nil }
        let code =
            switch number {
            case .connectionFailed: "connection.failed"
            case .tlsHandshakeFailed: "connection.tls_failed"
            default: "connection.ended"
            }
        self.init(code: code, sdkCode: number)
    }
}

/// Why a session cannot go on, and what that calls for.
package struct SessionIssue: Sendable, Equatable {
    package enum Kind: Sendable, Equatable {
        case clientReset
        case permissionDenied
        case schemaConflict
        case serverError
        /// The local file, not the server, is in the way.
        case localRealm
    }

    package let kind: Kind
    /// The number of the server's error, or the word of the local one.
    package let code: String
    package let message: String
    /// The number by which apps on the SDKs know it, if they do.
    package let sdkCode: SDKErrorCode?
    /// Where the server keeps its own log of the matter.
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

/// How "sync now" ended.
package enum SyncOutcome: Sendable, Equatable {
    case done
    case offline(reason: String)
    case loginRequired(reason: String)
    case failed(reason: String)
    case refused(SessionIssue)
    case timedOut
}
