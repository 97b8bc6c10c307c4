/// How a realm is at one moment.
public struct SyncedRealmStatus: Sendable {
    public internal(set) var activity: RealmActivity
    /// What the server or the file reports, where that keeps the realm from syncing.
    public internal(set) var error: StatusIssue?
    /// Canonical Extended JSON; empty while it depends on a user who never logged in.
    public internal(set) var partition: String
    /// Until the next attempt to open or to connect; nil if none is planned.
    public internal(set) var timeToNextAttempt: Duration?
    /// Of the open file; nil if it is closed.
    public internal(set) var file: FileStatus?

    init(_ phase: RealmPhase, partition: String) {
        self.activity = RealmActivity(phase)
        self.partition = partition
    }

    /// An error that keeps a realm from syncing (features, E2).
    public struct StatusIssue: Sendable, Equatable {
        /// The number of the server's error, or the word of the local one.
        public let code: String
        /// The number that the SDKs give the error; nil for what they do not know.
        public let sdkCode: Int?
        public let message: String
        /// Where the server keeps its log of what happened.
        public let logURL: String?
    }

    /// What the file holds, and how far it has been transferred.
    public struct FileStatus: Sendable {
        public let localVersion: UInt64
        /// The newest local version that the server has acknowledged.
        public let acknowledgedVersion: UInt64
        public let serverVersion: UInt64
        /// Bytes of changesets that the server has not acknowledged.
        public let pendingUploadBytes: UInt64
        /// Bytes that the server announced and this machine has not integrated.
        public let pendingDownloadBytes: UInt64
        /// Bytes of changesets, over the life of the file.
        public let uploadedBytes: UInt64
        public let downloadedBytes: UInt64
        /// Whether a download has ever been completed.
        public let isFirstDownloadFinished: Bool
        /// Milliseconds since 1970; nil if it has not happened since the file was opened.
        public let lastConnected: Int64?
        public let lastUploaded: Int64?
        public let lastDownloaded: Int64?
    }
}
