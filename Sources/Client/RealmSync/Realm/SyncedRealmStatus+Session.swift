import AppServices
package import LocalRealm
import SyncClient
import SyncProtocol
import Versions

extension SyncedRealmStatus.FileStatus {
    init(_ snapshot: RealmClientStatus) {
        let file = snapshot.file
        self.init(
            localVersion: file.localVersion.rawValue,
            acknowledgedVersion: snapshot.acknowledgedVersion,
            serverVersion: file.progress.download.serverVersion.rawValue,
            pendingUploadBytes: file.uploadableBytes
                - min(file.uploadedBytes, file.uploadableBytes),
            pendingDownloadBytes: file.downloadableBytes,
            uploadedBytes: file.uploadedBytes,
            downloadedBytes: file.downloadedBytes,
            ingest: file.ingest.map {
                SyncedRealmStatus.IngestStatus(
                    pendingCount: $0.pendingCount,
                    uploadedCount: $0.uploadedCount,
                    oldestPending: $0.oldestPending
                )
            },
            isFirstDownloadFinished: file.isFirstDownloadFinished
        )
    }
}

extension RealmActivity {
    /// The status of a running session, and of the open requirement.
    init(_ phase: SessionPhase, _ standing: DownloadStatus, _ open: OpenOptions) {
        self = Self.activity(phase, isFirstDownloadFinished: standing.isFirstFinished)
        refine(OpenRequirement(open, standing, phase).verdict)
    }

    private static func activity(
        _ phase: SessionPhase,
        isFirstDownloadFinished: Bool
    ) -> RealmActivity {
        switch phase {
        case .bound: RealmActivity(isFirstDownloadFinished ? .open : .progress)
        case .connecting(after: .notTried), .detached, .offline(.notTried):
            RealmActivity(.connecting)
        case .connecting(after: let cause): RealmActivity(.connecting, .backoff, cause.reason)
        case .offline(.backoff(let reason, _)): RealmActivity(.offline, .backoff, reason)
        case .offline(.serverError(let reason, _)): RealmActivity(.failed, .serverError, reason)
        case .offline(.loginRequired(let reason, let code)):
            RealmActivity(.loginRequired, .logInRefused, "\(reason) [\(code)]")
        case .backingOff(let issue):
            RealmActivity(.suspended, issue.cause, "\(issue.message) [\(issue.code)]")
        case .inactive(let issue):
            RealmActivity(
                issue.kind == .clientReset ? .needsReset : .failed,
                issue.cause,
                "\(issue.message) [\(issue.code)]"
            )
        }
    }

    /// If nothing worse holds, the phase shows the progress of the open requirement.
    private mutating func refine(_ verdict: OpenRequirement.Verdict) {
        switch (phase, verdict) {
        case (.progress, .open): phase = .open
        case (.open, .waiting): phase = .progress
        case (.open, .timedOut(let limit)), (.progress, .timedOut(let limit)),
            (.connecting, .timedOut(let limit)), (.offline, .timedOut(let limit)):
            phase = .failed
            cause = cause ?? .backoff
            detail =
                "not downloaded within \(limit.forPeople) (open.timeout); the download continues"
                + (detail.map { ": \($0)" } ?? "")
        default: break
        }
    }
}

extension SyncedRealmStatus.StatusIssue {
    /// The cause that keeps a session from its server; nil if there is none.
    init?(_ phase: SessionPhase) {
        switch phase {
        case .bound, .detached: return nil
        case .offline(let cause), .connecting(after: let cause):
            guard let issue = Self(cause) else { return nil }
            self = issue
        case .backingOff(let issue), .inactive(let issue):
            self.init(
                code: issue.code,
                sdkCode: issue.sdkCode?.rawValue,
                message: issue.message,
                logURL: issue.logURL
            )
        }
    }

    private init?(_ cause: OfflineCause) {
        guard let code = cause.code, let reason = cause.reason else { return nil }
        self.init(code: code, sdkCode: cause.sdkCode?.rawValue, message: reason, logURL: nil)
    }

    /// The cause that keeps a realm from being opened.
    init(_ error: RealmError) {
        self.init(
            code: error.code,
            sdkCode: error.sdkCode,
            message: error.message,
            logURL: error.logURL
        )
    }
}

extension SessionIssue {
    var cause: RealmCause {
        switch kind {
        case .clientReset: .clientReset
        case .permissionDenied: .permissionDenied
        case .schemaConflict: .schemaConflict
        case .serverError: .serverError
        case .localRealm: LocalRealmError.Kind(rawValue: code)?.cause ?? .inputOutput
        }
    }
}

extension LocalRealmError.Kind {
    var cause: RealmCause {
        switch self {
        case .locked: .locked
        case .notARealm, .newerLayout, .corrupt, .replaced: .notARealm
        case .wrongOwner: .wrongOwner
        case .diskFull: .diskFull
        case .schemaConflict, .schemaNameTaken: .schemaConflict
        case .schemaAltered, .schemaUniqueIndex, .schemaRemoteTrigger: .schemaAltered
        case .badChangeset, .badProgress, .badSubscriptions: .serverError
        case .pendingUploads: .configuration
        case .identAlreadySet, .busy, .inputOutput, .cannotOpen, .database, .clockBeforeEpoch,
            .fileExists:
            .inputOutput
        }
    }

    /// Whether an operator must change a file first.
    package var isOfConfiguration: Bool {
        switch self {
        case .notARealm, .wrongOwner, .newerLayout, .schemaConflict, .schemaNameTaken,
            .schemaAltered, .schemaUniqueIndex, .schemaRemoteTrigger, .pendingUploads:
            true
        case .locked, .replaced, .identAlreadySet, .busy, .fileExists, .diskFull, .inputOutput,
            .cannotOpen, .corrupt, .database, .badChangeset, .badProgress, .badSubscriptions,
            .clockBeforeEpoch:
            false
        }
    }
}

extension SyncResult {
    /// The result of a sync that a running session carried out.
    init(_ outcome: SyncOutcome, uploadedBytes: UInt64 = 0, downloadedBytes: UInt64 = 0) {
        let (word, detail, code): (Outcome, String?, String?) =
            switch outcome {
            case .done: (.done, nil, nil)
            case .timedOut(let cause):
                (
                    .timedOut,
                    "not finished within the timeout" + (cause.reason.map { ": \($0)" } ?? ""),
                    cause.code
                )
            case .offline(let reason, let code): (.offline, reason, code)
            case .loginRequired(let reason, let code):
                (.loginRequired, "\(reason) [\(code)]", code)
            case .failed(let reason, let code): (.failed, reason, code)
            case .refused(let issue):
                (Self.outcome(of: issue), "\(issue.message) [\(issue.code)]", issue.code)
            }
        self.init(
            word,
            detail: detail,
            code: code,
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
