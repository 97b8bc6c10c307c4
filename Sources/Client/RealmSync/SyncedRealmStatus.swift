/// The status of a realm at one moment.
public struct SyncedRealmStatus: Sendable {
    /// The phase of the realm, and the reason for it.
    public internal(set) var activity: RealmActivity
    /// The error of the server or the file that keeps the realm from syncing.
    public internal(set) var error: StatusIssue?
    /// Canonical Extended JSON; empty while it depends on a user that never logged in, and for realms
    /// with subscriptions.
    public internal(set) var partition: String
    /// Time to the next attempt to open or to connect; nil if none is planned.
    public internal(set) var timeToNextAttempt: Duration?
    /// The status of the open file; nil if it is closed.
    public internal(set) var file: FileStatus?
    /// The subscriptions of the open file; nil unless the realm uses flexible sync.
    public internal(set) var subscriptions: SubscriptionStatus?
    /// Times of the last transfers, also of those before the process started.
    public internal(set) var lastTransfers = LastTransfers()
    /// Whether the server has changed the realm from its partition to flexible sync.
    public internal(set) var isMigrated = false

    init(_ phase: RealmPhase, partition: String) {
        self.activity = RealmActivity(phase)
        self.partition = partition
    }

    /// An error that keeps a realm from syncing (features, E2).
    public struct StatusIssue: Sendable, Equatable {
        /// The code of `docs/errors.md`.
        public let code: String
        /// The number that the Realm SDKs give this error, if they know it.
        public let sdkCode: Int?
        /// A sentence for people.
        public let message: String
        /// URL of the server's log of the error.
        public let logURL: String?
    }

    /// The objects of asymmetric classes, which are only in the history until the server has taken them.
    public struct IngestStatus: Sendable, Equatable {
        /// Captured objects that the server has not taken.
        public let pendingCount: Int
        /// Objects that the server has taken since the file was opened.
        public let uploadedCount: UInt64
        /// When the oldest pending object was written, in milliseconds since 1970; nil if none is pending.
        public let oldestPending: Int64?
    }

    /// The content of the file, and its transfer progress.
    public struct FileStatus: Sendable {
        /// The newest local version.
        public let localVersion: UInt64
        /// The newest local version that the server has acknowledged.
        public let acknowledgedVersion: UInt64
        /// The newest integrated server version.
        public let serverVersion: UInt64
        /// Bytes of changesets that the server has not acknowledged.
        public let pendingUploadBytes: UInt64
        /// Bytes that the server announced and this machine has not integrated.
        public let pendingDownloadBytes: UInt64
        /// Bytes of uploaded changesets, since the file was created.
        public let uploadedBytes: UInt64
        /// Bytes of downloaded changesets, since the file was created.
        public let downloadedBytes: UInt64
        /// Objects of asymmetric classes; nil if the realm has no such class.
        public let ingest: IngestStatus?
        /// Whether a download has ever been completed.
        public let isFirstDownloadFinished: Bool
    }

    /// Times in milliseconds since 1970; nil for what has never happened.
    public struct LastTransfers: Sendable, Equatable {
        /// The last contact with the server.
        public var connected: Int64?
        /// The last acknowledgement of local changes.
        public var uploaded: Int64?
        /// The last changes of others that were integrated.
        public var downloaded: Int64?
    }
}
