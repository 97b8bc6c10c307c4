import Config
import Control
import Platform
import RealmSync
import Scheduling
import Subscriptions

extension RealmStatus {
    /// - Parameter now: milliseconds since 1970.
    init(
        _ configuration: RealmConfiguration,
        at path: String,
        _ status: SyncedRealmStatus,
        now: Int64
    ) {
        self.init(
            name: configuration.name,
            path: path,
            app: configuration.user.app.name,
            user: configuration.user.name,
            partition: status.partition,
            state: RealmState(status.activity.phase)
        )
        cause = status.activity.cause?.rawValue
        detail = status.activity.detail
        error = status.error.map(StatusError.init)
        if let pause = status.timeToNextAttempt {
            secondsToNextAttempt = pause / .seconds(1)
            nextAttempt = Self.time(now + Int64(pause / .milliseconds(1)))
        }
        subscriptions = status.subscriptions.map(SubscriptionSummary.init)
        mode = status.isMigrated ? "migrated" : configuration.scope.mode
        lastConnected = status.lastTransfers.connected.map(Self.time)
        lastUploaded = status.lastTransfers.uploaded.map(Self.time)
        lastDownloaded = status.lastTransfers.downloaded.map(Self.time)
        remedy = error.flatMap {
            ErrorCatalogue.remedy(for: $0.code, realm: name, user: user)
        }
        guard let file = status.file else { return }
        localVersion = file.localVersion
        acknowledgedVersion = file.acknowledgedVersion
        serverVersion = file.serverVersion
        pendingUploadBytes = file.pendingUploadBytes
        pendingDownloadBytes = file.pendingDownloadBytes
        uploadedBytes = file.uploadedBytes
        downloadedBytes = file.downloadedBytes
        firstDownloadFinished = file.isFirstDownloadFinished
        ingest = file.ingest.map { ingest in
            IngestSummary(
                pending: ingest.pendingCount,
                uploaded: ingest.uploadedCount,
                lagSeconds: ingest.oldestPending.map { max(0, Double(now - $0) / 1000) }
            )
        }
    }

    private static func time(_ milliseconds: Int64) -> String {
        WallTime(millisecondsSince1970: milliseconds).description
    }

    /// That of a realm that the configuration disables.
    init(disabled realm: RealmConfiguration) {
        self.init(
            name: realm.name,
            path: realm.path,
            app: realm.user.app.name,
            user: realm.user.name,
            partition: "",
            state: .disabled
        )
        cause = RealmCause.configuration.rawValue
    }
}

extension RealmConfiguration.Scope {
    /// The configured kind of sync.
    fileprivate var mode: String {
        switch self {
        case .partition: "partition"
        case .subscriptions: "flexible"
        }
    }
}

extension SubscriptionSummary {
    fileprivate init(_ status: SubscriptionStatus) {
        var estimate: Double?
        if case .bootstrap(let share) = status.wait { estimate = share }
        self.init(
            activeVersion: status.active.version.reported,
            latestVersion: status.latest.version.reported,
            state: status.latest.state.word,
            count: status.latest.subscriptions.count,
            waitingFor: status.wait?.word,
            estimate: estimate,
            error: status.latest.state.error,
            unsubscribedTargets: status.unsubscribedTargets.isEmpty
                ? nil : status.unsubscribedTargets
        )
    }
}

extension StatusError {
    fileprivate init(_ issue: SyncedRealmStatus.StatusIssue) {
        self.init(
            code: issue.code,
            sdkCode: issue.sdkCode,
            message: issue.message,
            logURL: issue.logURL
        )
    }
}

extension SyncReport {
    /// - Parameter user: the name of the realm's user in the configuration.
    init(realm: String, user: String? = nil, _ result: SyncResult) {
        self.init(
            realm: realm,
            outcome: Outcome(result.outcome),
            detail: result.detail,
            code: result.code,
            remedy: result.code.flatMap {
                ErrorCatalogue.remedy(for: $0, realm: realm, user: user)
            },
            uploadedBytes: result.uploadedBytes,
            downloadedBytes: result.downloadedBytes
        )
    }
}

extension SyncReport.Outcome {
    init(_ outcome: SyncResult.Outcome) {
        self =
            switch outcome {
            case .done: .done
            case .failed: .failed
            case .configuration: .configuration
            case .offline: .offline
            case .loginRequired: .loginRequired
            case .resetRequired: .resetRequired
            case .timedOut: .timedOut
            }
    }
}
