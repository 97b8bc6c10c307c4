import SyncClient

/// Decides whether a realm counts as open, by its required downloads (features, O4 to O14).
struct OpenRequirement: Equatable, Sendable {
    enum Verdict: Equatable, Sendable {
        case open
        /// The required downloads are not complete.
        case waiting
        /// The limit has passed; the download continues.
        case timedOut(Duration)
    }

    let options: OpenOptions
    /// Whether a download has ever been completed, in this run of the process or an earlier one: one
    /// that was broken off does not count.
    var isFirstDownloadFinished: Bool
    /// Whether one has been completed since the file was opened.
    var hasDownloaded: Bool
    /// Since the file was opened.
    var elapsed: Duration
    /// The last connection attempt failed.
    var isOffline: Bool

    var verdict: Verdict {
        switch options.download {
        case .never: return .open
        case .once: if isFirstDownloadFinished { return .open }
        case .always: if hasDownloaded { return .open }
        case .auto:
            // Earlier complete data suffices.
            if hasDownloaded || (isFirstDownloadFinished && (isOffline || hasTimedOut)) {
                return .open
            }
        }
        guard let timeout = options.timeout, hasTimedOut else { return .waiting }
        return .timedOut(timeout)
    }

    private var hasTimedOut: Bool {
        options.timeout.map { elapsed >= $0 } ?? false
    }
}

extension OpenRequirement {
    init(_ options: OpenOptions, _ status: RealmClientStatus) {
        self.init(options, status.standing, status.phase)
    }

    init(_ options: OpenOptions, _ standing: DownloadStatus, _ phase: SessionPhase) {
        var isOffline = false
        if case .offline(let cause) = phase { isOffline = cause != .notTried }
        self.init(
            options: options,
            isFirstDownloadFinished: standing.isFirstFinished,
            hasDownloaded: standing.hasCompleted,
            elapsed: standing.age,
            isOffline: isOffline
        )
    }
}
