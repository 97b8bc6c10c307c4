internal import Dispatch
internal import SQLite

/// The running part of a `CommitWatcher`: a connection, the notifications, and the timers.
///
/// Everything happens on its queue, which is what makes it safe to hand around.
final class CaptureWatch: @unchecked Sendable {
    private let queue = DispatchQueue(label: "realm.commits")
    private let connection: Connection
    private let directory: DirectoryWatch?
    private let pollInterval: Duration
    private let onCapture: @Sendable () -> Void
    private var poll: (any DispatchSourceTimer)?
    private var dataVersion: Int64?
    /// Counts the notifications: a later one restarts the looks that an earlier one began.
    private var notification = 0
    private var isStopped = false

    /// A notification comes before the commit can be seen, so looks follow each other for a while,
    /// each after twice the time.
    private static let firstDelay = Duration.microseconds(100)
    private static let lastDelay = Duration.milliseconds(52)

    init(
        path: String,
        _ options: CommitWatcher.Options,
        onCapture: @escaping @Sendable () -> Void
    ) throws {
        self.connection = try Connection(
            path: path,
            .init(mode: .readWrite, busyTimeout: .zero)
        )
        self.directory = options.usesNotifications ? DirectoryWatch(databasePath: path) : nil
        self.pollInterval = options.pollInterval
        self.onCapture = onCapture
        self.dataVersion = try connection.integer("PRAGMA data_version")
    }

    func start() {
        queue.async { [self] in
            directory?.start(on: queue) { [weak self] in self?.lookRepeatedly() }
            let timer = DispatchSource.makeTimerSource(queue: queue)
            timer.schedule(
                deadline: .now() + pollInterval.dispatchInterval,
                repeating: pollInterval.dispatchInterval,
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
            directory?.stop()
            connection.close()
        }
    }

    // MARK: Looking

    /// The log file has been written to: a commit shows now or soon.
    private func lookRepeatedly() {
        notification += 1
        look()
        lookAgain(after: Self.firstDelay, notification)
    }

    private func lookAgain(after delay: Duration, _ number: Int) {
        guard delay <= Self.lastDelay else { return }
        queue.asyncAfter(deadline: .now() + delay.dispatchInterval) { [weak self] in
            guard let self, number == notification else { return }
            look()
            lookAgain(after: delay * 2, number)
        }
    }

    private func look() {
        guard !isStopped else { return }
        // It changes with every commit of another connection, the agent's own included.
        let current = try? connection.integer("PRAGMA data_version")
        guard current == nil || current != dataVersion else { return }
        dataVersion = current ?? dataVersion
        reportIfCaptured()
    }

    /// What cannot be read now is reported, too: the drain finds out.
    private func reportIfCaptured() {
        if (try? CaptureLog.isEmpty(on: connection)) != true { onCapture() }
    }
}

extension Duration {
    fileprivate var dispatchInterval: DispatchTimeInterval {
        let (seconds, attoseconds) = components
        return .nanoseconds(Int(clamping: seconds * 1_000_000_000 + attoseconds / 1_000_000_000))
    }
}
