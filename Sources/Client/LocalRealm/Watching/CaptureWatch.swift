internal import Dispatch
internal import SQLite

/// The running part of a `CommitWatcher`: a connection, the notifications, and the timers.
///
/// Everything runs on the queue of all watches, which makes it safe to share.
final class CaptureWatch: @unchecked Sendable {
    private let directoryWatch = DirectoryWatch.shared
    private let queue = DirectoryWatch.shared.queue
    private let path: String
    private let options: CommitWatcher.Options
    private let connection: Connection
    private let ownWrites: OwnWrites
    private let onCapture: @Sendable () -> Void
    private var subscription: DirectoryWatch.Subscription?
    private var poll: (any DispatchSourceTimer)?
    private var dataVersion: Int64?
    /// The delay before the next look, if one is planned.
    private var delay: Duration?
    /// Tells the planned look from a replaced one.
    private var number = 0
    /// A notification came since that look was planned.
    private var hasNotification = false
    /// Writes were reported, and the next look is after the drain that they need.
    private var hasReported = false
    private var isStopped = false

    /// A notification may precede the visible commit, so further looks follow for a while, each
    /// after twice the time.
    private static let firstDelay = Duration.milliseconds(1)
    private static let lastDelay = Duration.milliseconds(64)
    /// The delay after a report, since the drain gathers writes for as long. A program that writes all the time
    /// was looked at each millisecond, for a third of the processor time of its drains.
    private static let delayAfterReport = Duration.milliseconds(10)
    /// The longest delay after the end of an own transaction.
    private static let longestWait = Duration.milliseconds(8)

    init(
        path: String,
        _ options: CommitWatcher.Options,
        beside ownWrites: OwnWrites,
        onCapture: @escaping @Sendable () -> Void
    ) throws {
        self.path = path
        self.options = options
        self.connection = try Connection(
            path: path,
            .init(mode: .readWrite, busyTimeout: .zero)
        )
        self.ownWrites = ownWrites
        self.onCapture = onCapture
        self.dataVersion = try connection.integer("PRAGMA data_version")
    }

    func start() {
        queue.async { [self] in
            guard !isStopped else { return }
            if options.usesNotifications { subscribe() }
            let interval = options.pollInterval.dispatchInterval
            let timer = DispatchSource.makeTimerSource(queue: queue)
            timer.schedule(
                deadline: .now() + interval,
                repeating: interval,
                leeway: .milliseconds(100)
            )
            timer.setEventHandler { [weak self] in self?.look() }
            timer.activate()
            poll = timer
            reportIfCaptured()
        }
    }

    func stop() {
        queue.async { [self] in
            isStopped = true
            poll?.cancel()
            if let subscription { directoryWatch.end(subscription) }
            connection.close()
        }
    }

    private func subscribe() {
        let parts = path.split(separator: "/", omittingEmptySubsequences: false)
        let name = String(parts.last ?? "")
        let directory = parts.dropLast().joined(separator: "/")
        let root = path.hasPrefix("/") ? "/" : "."
        // The database file itself is written in the rollback-journal modes; otherwise only by
        // checkpoints, which are not commits.
        let mode = try? connection.rows("PRAGMA journal_mode")
        let usesLog = mode == [["wal"]]
        subscription = directoryWatch.subscribe(
            to: usesLog ? [name + "-wal"] : [name, name + "-wal"],
            in: directory.isEmpty ? root : directory
        ) { [weak self] in self?.takeNotification() ?? .relaxed }
    }

    // MARK: Looking

    /// The log file has been written to: a commit is visible now or soon.
    private func takeNotification() -> DirectoryWatch.Interest {
        guard !isStopped else { return .relaxed }
        let isHeldBack = ownWrites.isUnderWay
        let enough = isHeldBack ? Self.longestWait : Self.firstDelay
        if hasReported || delay.map({ $0 <= enough }) == true {
            hasNotification = true
        } else {
            if !isHeldBack { look() }
            if !hasReported { planLook(after: Self.firstDelay) }
        }
        return hasReported ? .relaxed : .urgent
    }

    private func planLook(after delay: Duration) {
        self.delay = delay
        number += 1
        hasNotification = false
        queue.asyncAfter(deadline: .now() + delay.dispatchInterval) { [weak self, number] in
            guard let self, number == self.number, !isStopped else { return }
            lookAsPlanned(after: delay)
        }
    }

    private func lookAsPlanned(after delay: Duration) {
        hasReported = false
        if ownWrites.isUnderWay {
            // The agent holds the write lock, so the writes are its own. The following look finds
            // commits of other programs before or after that.
            planLook(after: min(delay * 2, Self.longestWait))
            hasNotification = true
            return
        }
        look()
        if hasReported { return }
        let next = hasNotification ? Self.firstDelay : delay * 2
        if next <= Self.lastDelay { planLook(after: next) } else { self.delay = nil }
    }

    private func look() {
        guard !isStopped else { return }
        // It changes with every commit of another connection, the agent's own included.
        let current = try? connection.integer("PRAGMA data_version")
        guard current == nil || current != dataVersion else { return }
        dataVersion = current ?? dataVersion
        reportIfCaptured()
    }

    /// A read that fails is reported, too: the drain reports the error.
    private func reportIfCaptured() {
        let isEmpty = try? CaptureLog.isEmpty(on: connection)
        guard isEmpty != true else { return }
        if isEmpty == false {
            hasReported = true
            planLook(after: Self.delayAfterReport)
        }
        onCapture()
    }
}

extension Duration {
    fileprivate var dispatchInterval: DispatchTimeInterval {
        let (seconds, attoseconds) = components
        return .nanoseconds(Int(clamping: seconds * 1_000_000_000 + attoseconds / 1_000_000_000))
    }
}
