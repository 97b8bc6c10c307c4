import AppServices
import Config
import Control
import LocalRealm
import Platform
import Plugins
import SyncClient
import SyncProtocol
import Versions

extension RealmSupervisor.Failure {
    /// The number by which apps on the SDKs know it, if they do.
    var sdkCode: SDKErrorCode? { state == .loginRequired ? .clientUser : nil }

    init(_ failure: UserSession.Failure) {
        switch failure {
        case .unavailable(let reason):
            self.init(
                state: .waitingForUser,
                cause: "backoff",
                detail: reason,
                outcome: .offline
            )
        case .logInRefused(let code, let message):
            self.init(
                state: .loginRequired,
                cause: "log-in-refused",
                detail: "\(message) (\(code)); check the credential of this user",
                outcome: .loginRequired
            )
        case .anonymousSessionEnded:
            self.init(
                state: .loginRequired,
                cause: "log-in-refused",
                detail: "\(UserSession.Failure.anonymousSessionEndedText); "
                    + "\(UserSession.Failure.anonymousSessionEndedRemedy)",
                outcome: .loginRequired
            )
        case .loggedOut:
            self.init(
                state: .loginRequired,
                cause: "by-user",
                detail: "the user was logged out here; `realm-agent users login` logs in again",
                outcome: .loginRequired
            )
        case .storage(let reason):
            self.init(state: .failed, cause: "io-error", detail: reason, outcome: .failed)
        }
    }

    init(_ failure: RealmOpener.Failure) {
        switch failure {
        case .partition(let reason):
            self.init(
                state: .failed,
                cause: "configuration",
                detail: reason,
                outcome: .configuration
            )
        case .flexible:
            self.init(
                state: .failed,
                cause: "configuration",
                detail: "this version syncs partitions only, no subscriptions yet; "
                    + "set enabled to false, or declare a partition",
                outcome: .configuration
            )
        case .directory(let reason):
            self.init(state: .failed, cause: "io-error", detail: reason, outcome: .failed)
        case .realm(let error):
            self.init(
                state: .failed,
                cause: error.kind.cause,
                detail: error.description,
                outcome: error.kind.isOfConfiguration ? .configuration : .failed
            )
        }
    }
}

extension UserSession.Failure {
    static let anonymousSessionEndedText =
        "the server ended the session of this anonymous user, who cannot log in again "
        + "[auth.session_ended]"
    static let anonymousSessionEndedRemedy =
        "`realm-agent users login` makes a new user and keeps the files of this one in recovered/"
}

extension LocalRealmError.Kind {
    /// The word of interfaces, 5 for what is in the way.
    var cause: String {
        switch self {
        case .locked: "locked"
        case .notARealm, .newerLayout, .corrupt: "not-a-realm"
        case .wrongOwner: "wrong-owner"
        case .diskFull: "disk-full"
        case .schemaConflict, .schemaNameTaken: "schema-conflict"
        case .schemaAltered, .schemaUniqueIndex: "schema-altered"
        case .badChangeset, .badProgress: "server-error"
        case .pendingUploads: "configuration"
        case .identAlreadySet, .busy, .inputOutput, .cannotOpen, .database, .clockBeforeEpoch,
            .fileExists:
            "io-error"
        }
    }

    /// Whether somebody must change a file before it can work.
    var isOfConfiguration: Bool {
        switch self {
        case .notARealm, .wrongOwner, .newerLayout, .schemaConflict, .schemaNameTaken,
            .schemaAltered, .schemaUniqueIndex, .pendingUploads:
            true
        case .locked, .identAlreadySet, .busy, .fileExists, .diskFull, .inputOutput, .cannotOpen,
            .corrupt,
            .database, .badChangeset, .badProgress, .clockBeforeEpoch:
            false
        }
    }
}

extension SyncReport {
    /// The report of a sync that a running session carried out.
    init(
        realm: String,
        outcome: SyncOutcome,
        uploadedBytes: UInt64,
        downloadedBytes: UInt64
    ) {
        let (word, detail): (Outcome, String?) =
            switch outcome {
            case .done: (.done, nil)
            case .timedOut: (.timedOut, "not finished in the time given; the agent goes on")
            case .offline(let reason): (.offline, reason)
            case .loginRequired(let reason): (.loginRequired, reason)
            case .failed(let reason): (.failed, reason)
            case .refused(let issue): (Self.outcome(of: issue), "\(issue.message) [\(issue.code)]")
            }
        self.init(
            realm: realm,
            outcome: word,
            detail: detail,
            uploadedBytes: uploadedBytes,
            downloadedBytes: downloadedBytes
        )
    }

    private static func outcome(of issue: SessionIssue) -> Outcome {
        switch issue.kind {
        case .clientReset: return .resetRequired
        case .permissionDenied, .schemaConflict, .serverError: return .failed
        case .localRealm:
            let kind = LocalRealmError.Kind(rawValue: issue.code)
            return kind?.isOfConfiguration == true ? .configuration : .failed
        }
    }
}

extension StatusError {
    /// What keeps a realm from being connected.
    init(_ error: ConnectionError, _ reason: String) {
        self.init(
            code: error.code,
            sdkCode: error.sdkCode.rawValue,
            message: reason,
            logURL: nil
        )
    }

    /// What keeps a realm from being opened.
    init(_ failure: RealmSupervisor.Failure) {
        let report = SyncErrorReport(failure)
        self.init(
            code: report.code,
            sdkCode: report.sdkCode,
            message: report.message,
            logURL: report.logURL
        )
    }
}

extension RealmStatus {
    /// Fills in what an open realm and its session tell.
    mutating func describe(_ snapshot: RealmSnapshot) {
        let file = snapshot.file
        localVersion = file.localVersion.rawValue
        acknowledgedVersion = snapshot.acknowledgedVersion
        serverVersion = file.progress.download.serverVersion.rawValue
        pendingUploadBytes = file.uploadableBytes - min(file.uploadedBytes, file.uploadableBytes)
        pendingDownloadBytes = file.downloadableBytes
        uploadedBytes = file.uploadedBytes
        downloadedBytes = file.downloadedBytes
        firstDownloadFinished = file.isFirstDownloadFinished
        lastConnected = snapshot.lastConnected.map(Self.time)
        lastUploaded = snapshot.lastUploaded.map(Self.time)
        lastDownloaded = snapshot.lastDownloaded.map(Self.time)
    }

    /// Fills in what a session is doing, and how far the opening is that the configuration asks for.
    mutating func describe(
        _ phase: SessionPhase,
        _ standing: DownloadStanding,
        _ opening: OpeningConfiguration
    ) {
        describe(phase, isFirstDownloadFinished: standing.isFirstFinished)
        describe(OpeningState(opening, standing, phase).verdict)
    }

    /// When the next attempt comes, if one is planned; now is in milliseconds since 1970.
    mutating func describe(nextAttemptIn pause: Duration?, now: Int64) {
        let pause = pause.map { max(.zero, $0) }
        secondsToNextAttempt = pause.map { $0 / .seconds(1) }
        nextAttempt = pause.map { Self.time(now + Int64($0 / .milliseconds(1))) }
    }

    /// Where nothing else is in the way, the state says how far the opening is.
    mutating func describe(_ opening: OpeningState.Verdict) {
        switch (state, opening) {
        case (.progress, .open): state = .open
        case (.open, .waiting): state = .progress
        case (.open, .late(let limit)), (.progress, .late(let limit)),
            (.connecting, .late(let limit)), (.offline, .late(let limit)):
            state = .failed
            cause = cause ?? "backoff"
            detail =
                "not downloaded within \(limit.forPeople), as open.timeout has it; the download goes on"
                + (detail.map { ": \($0)" } ?? "")
        default: break
        }
    }

    mutating func describe(_ phase: SessionPhase, isFirstDownloadFinished: Bool) {
        switch phase {
        case .bound:
            state = isFirstDownloadFinished ? .open : .progress
        case .connecting, .detached:
            state = .connecting
        case .offline(.notTried):
            state = .connecting
        case .offline(.backoff(let reason, let error)):
            (state, cause, detail) = (.offline, "backoff", reason)
            self.error = error.map { StatusError($0, reason) }
        case .offline(.serverError(let reason, let error)):
            (state, cause, detail) = (.failed, "server-error", reason)
            self.error = error.map { StatusError($0, reason) }
        case .offline(.loginRequired(let reason)):
            (state, cause, detail) = (.loginRequired, "log-in-refused", reason)
            error = StatusError(
                code: "realm.log_in_refused",
                sdkCode: SDKErrorCode.clientUser.rawValue,
                message: reason,
                logURL: nil
            )
        case .suspended(let issue):
            (state, cause) = (.suspended, Self.stateAndCause(of: issue).1)
            describe(issue)
        case .refused(let issue):
            (state, cause) = Self.stateAndCause(of: issue)
            describe(issue)
        }
    }

    private mutating func describe(_ issue: SessionIssue) {
        detail = "\(issue.message) [\(issue.code)]"
        error = StatusError(
            code: issue.code,
            sdkCode: issue.sdkCode?.rawValue,
            message: issue.message,
            logURL: issue.logURL
        )
    }

    private static func stateAndCause(of issue: SessionIssue) -> (RealmState, String) {
        switch issue.kind {
        case .clientReset: (.needsReset, "client-reset")
        case .permissionDenied: (.failed, "permission-denied")
        case .schemaConflict: (.failed, "schema-conflict")
        case .serverError: (.failed, "server-error")
        case .localRealm:
            (.failed, LocalRealmError.Kind(rawValue: issue.code)?.cause ?? "io-error")
        }
    }

    private static func time(_ milliseconds: Int64) -> String {
        WallTime(millisecondsSince1970: milliseconds).description
    }
}
