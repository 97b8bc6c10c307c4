import SyncClient

/// Whether a realm counts as open, as its owner wants it downloaded first (features, O4 to O14).
struct OpenRequirement: Equatable, Sendable {
    enum Verdict: Equatable, Sendable {
        case open
        /// What is here is not what was asked for yet.
        case waiting
        /// The time for it is over; the download continues.
        case late(Duration)
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
            // What is here will do, if there is something.
            if hasDownloaded || (isFirstDownloadFinished && (isOffline || isLate)) { return .open }
        }
        guard let timeout = options.timeout, isLate else { return .waiting }
        return .late(timeout)
    }

    private var isLate: Bool {
        options.timeout.map { elapsed >= $0 } ?? false
    }
}

extension OpenRequirement {
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
