/// The state of the agent: the response to `GET /v1/status` (interfaces, 5 and 6).
package struct StatusReport: Codable, Sendable, Equatable {
    package let version: String
    /// The process that answers.
    package let pid: Int32
    /// The number of configurations that it has followed since its start: a reload adds one.
    package let generation: UInt64?
    package let realms: [RealmStatus]

    package init(version: String, pid: Int32, generation: UInt64? = nil, realms: [RealmStatus]) {
        self.version = version
        self.pid = pid
        self.generation = generation
        self.realms = realms
    }
}

/// The status of one realm, for operators.
package struct RealmStatus: Codable, Sendable, Equatable {
    package var name: String
    package var path: String
    package var app: String
    package var user: String
    /// Canonical Extended JSON.
    package var partition: String
    package var state: RealmState
    /// The cause of a state other than `open` (interfaces, 5).
    package var cause: String?
    /// A sentence about the cause, with a remedy if there is one.
    package var detail: String?
    /// The error of the server or the file that keeps the realm from syncing.
    package var error: StatusError?
    /// The remedy for the error.
    package var remedy: String?
    /// When the schedule ends the pause, ISO 8601; absent if that is unknown, or the realm is not
    /// paused.
    package var nextOpening: String?
    /// When the next attempt is made to open or to connect, ISO 8601; absent if none is planned.
    package var nextAttempt: String?
    /// The same, as a span of time.
    package var secondsToNextAttempt: Double?
    /// The smoothed round trip of the realm's connection when it was last measured; absent if never.
    package var roundTripSeconds: Double?
    /// The newest version of the local file, and the newest acknowledged one.
    package var localVersion: UInt64
    package var acknowledgedVersion: UInt64
    package var serverVersion: UInt64
    /// The part of the offline limit that has passed since the last contact with the server; absent before
    /// the first one.
    package var offlineLimitUsed: Double?
    /// Bytes of changesets that the server has not acknowledged.
    package var pendingUploadBytes: UInt64
    /// Bytes that the server announced and this machine has not integrated.
    package var pendingDownloadBytes: UInt64
    /// Bytes of changesets up and down, over the life of the file.
    package var uploadedBytes: UInt64
    package var downloadedBytes: UInt64
    package var firstDownloadFinished: Bool
    /// ISO 8601, UTC; absent if it has never happened.
    package var lastConnected: String?
    package var lastUploaded: String?
    package var lastDownloaded: String?
    /// The sets of a realm with flexible sync; absent while its file is closed.
    package var subscriptions: SubscriptionSummary?
    /// `partition`, `flexible`, or `migrated`: a partition that the server has changed to flexible sync.
    package var mode: String?
    /// Objects of asymmetric classes; absent if the realm has no such class, or its file is closed.
    package var ingest: IngestSummary?

    package init(
        name: String,
        path: String,
        app: String,
        user: String,
        partition: String,
        state: RealmState
    ) {
        self.name = name
        self.path = path
        self.app = app
        self.user = user
        self.partition = partition
        self.state = state
        self.localVersion = 0
        self.acknowledgedVersion = 0
        self.serverVersion = 0
        self.pendingUploadBytes = 0
        self.pendingDownloadBytes = 0
        self.uploadedBytes = 0
        self.downloadedBytes = 0
        self.firstDownloadFinished = false
    }
}

/// The subscription sets of a realm in short.
package struct SubscriptionSummary: Codable, Sendable, Equatable {
    /// The set whose objects the file holds.
    package let activeVersion: Int64
    /// The newest set.
    package let latestVersion: Int64
    /// Of the newest set.
    package let state: String
    package let count: Int
    /// The next event that a pending set needs: `connection`, `uploads` or `bootstrap`.
    package let waitingFor: String?
    /// The share of its bootstrap that has come, from 0 to 1, if the server tells.
    package let estimate: Double?
    /// The server's text, if it rejected the set.
    package let error: String?
    /// Classes that links lead to, and that have no subscription: such links read as null. Absent if all
    /// have one.
    package let unsubscribedTargets: [String]?

    package init(
        activeVersion: Int64,
        latestVersion: Int64,
        state: String,
        count: Int,
        waitingFor: String?,
        estimate: Double?,
        error: String?,
        unsubscribedTargets: [String]? = nil
    ) {
        self.unsubscribedTargets = unsubscribedTargets
        self.activeVersion = activeVersion
        self.latestVersion = latestVersion
        self.state = state
        self.count = count
        self.waitingFor = waitingFor
        self.estimate = estimate
        self.error = error
    }
}

/// The objects of asymmetric classes on their way to the server.
package struct IngestSummary: Codable, Sendable, Equatable {
    /// Captured objects that the server has not taken.
    package let pending: Int
    /// Objects that the server has taken since the file was opened.
    package let uploaded: UInt64
    /// The age of the oldest pending object; absent if none is pending.
    package let lagSeconds: Double?

    package init(pending: Int, uploaded: UInt64, lagSeconds: Double?) {
        self.pending = pending
        self.uploaded = uploaded
        self.lagSeconds = lagSeconds
    }
}

/// An error that keeps a realm from syncing (features, E2).
package struct StatusError: Codable, Sendable, Equatable {
    /// The code of `docs/errors.md`.
    package let code: String
    /// The number that the Realm SDKs give this error; absent if they do not know it.
    package let sdkCode: Int?
    package let message: String
    /// URL of the server's log of the error.
    package let logURL: String?

    package init(code: String, sdkCode: Int?, message: String, logURL: String?) {
        self.code = code
        self.sdkCode = sdkCode
        self.message = message
        self.logURL = logURL
    }

    private enum CodingKeys: String, CodingKey {
        case code, sdkCode, message
        // In the form that the conversion to and from snake case keeps.
        case logURL = "logUrl"
    }
}

/// The states of a realm (interfaces, 5).
package enum RealmState: String, Codable, Sendable, CaseIterable {
    case waitingForUser = "waiting-for-user"
    case connecting
    case progress
    case open
    case suspended
    case paused
    case offline
    case resetting
    case needsReset = "needs-reset"
    case loginRequired = "login-required"
    case failed
    case disabled
}
