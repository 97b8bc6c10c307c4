internal import SQLite

/// The running part of a `CommitWatcher`: the notifications, the polls, and a connection while there is something
/// to see.
///
/// Without a notification it compares the state of the files by the file system, with one poll for all realms.
/// Together with checkpoints and records that follow work, 500 silent realms took 0.4 to 0.5 % of a core for 11
/// (`Benchmarks/many.py`). Everything runs on the thread of all watches, which makes it safe to share.
final class CaptureWatch: @unchecked Sendable {
    private let directoryWatch = DirectoryWatch.shared
    private let thread = DirectoryWatch.shared.thread
    private let path: String
    private let logPath: String
    private let options: CommitWatcher.Options
    /// Open while there is something to see, and for some time after it.
    private var connection: Connection?
    private var ticket: OpenConnections.Ticket?
    private let ownWrites: OwnWrites
    private let onCapture: @Sendable () -> Void
    private var subscription: DirectoryWatch.Subscription?
    /// Whether the kernel would notify of each write.
    private let isNotifiable: Bool
    private var pollNumber = 0
    /// While the kernel notifies of each write, few polls of a silent file compare its traces.
    private static let pollsBetweenFullOnes = 8
    /// Of the others, each second one looks whether the file is the same.
    private static let pollsBetweenIdentities = 2
    private var poll: SharedPolls.Participation?
    /// As of the last poll.
    private var traces: FileTraces
    /// The last sign that something was written; nil if the connection is closed.
    private var lastSign: ContinuousClock.Instant?
    /// Of the connection; another one counts differently.
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
        self.logPath = path + "-wal"
        self.options = options
        self.ownWrites = ownWrites
        self.onCapture = onCapture
        // Before the connection is opened: what is written after that is seen by one of the two.
        self.traces = ownWrites.tracesWithoutWrites ?? FileTraces(path: path, logPath: logPath)
        self.isNotifiable =
            options.usesNotifications && FileSystem.notifiesOfAllWrites(to: path)
        self.connection = nil
        // While many files are opened, this one's first look waits a little: most have nothing to see.
        if !isNotifiable || !(hasKnownTraces || OpenConnections.areMany) { _ = try open() }
    }

    private var hasKnownTraces: Bool { ownWrites.tracesWithoutWrites != nil }

    private var isNotifiedOfAll: Bool { isNotifiable && subscription != nil }

    func start() {
        thread.run { [self] in
            guard !isStopped else { return }
            if options.usesNotifications { subscribe() }
            poll = directoryWatch.polls.take(every: options.pollInterval) { [weak self] in
                self?.takePoll()
            }
            guard connection != nil else {
                if hasKnownTraces {
                    // A commit may be under way, which is visible only after its last write.
                    if FileTraces(path: path, logPath: logPath) != traces { _ = takeNotification() }
                    return
                }
                return planLook(after: .milliseconds(Int.random(in: Self.firstLookInMilliseconds)))
            }
            lastSign = .now
            reportIfCaptured(connection)
            if !hasReported { closeAmongMany() }
        }
    }

    private static let firstLookInMilliseconds = 1000...5000

    func stop() {
        thread.run { [self] in
            isStopped = true
            if let poll { directoryWatch.polls.end(poll) }
            if let subscription { directoryWatch.end(subscription) }
            close()
        }
    }

    private func subscribe() {
        let parts = path.split(separator: "/", omittingEmptySubsequences: false)
        let name = String(parts.last ?? "")
        let directory = parts.dropLast().joined(separator: "/")
        let root = path.hasPrefix("/") ? "/" : "."
        // The database file itself is written in the rollback-journal modes; otherwise only by
        // checkpoints, which are not commits.
        let mode = try? connection?.rows("PRAGMA journal_mode")
        let usesLog = connection == nil || mode == [["wal"]]
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
        thread.run(after: delay) { [weak self, number] in
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
        if next <= Self.lastDelay {
            planLook(after: next)
        } else {
            self.delay = nil
            closeAmongMany()
        }
    }

    private func look() {
        guard !isStopped else { return }
        lastSign = .now
        lookAtDatabase()
    }

    private func lookAtDatabase() {
        let isNew = connection == nil
        let connection = try? connection ?? open()
        // It changes with every commit of another connection, the agent's own included.
        let current = try? connection?.integer("PRAGMA data_version")
        guard isNew || current == nil || current != dataVersion else { return }
        dataVersion = current ?? dataVersion
        reportIfCaptured(connection)
    }

    /// A read that fails is reported, too: the drain reports the error.
    private func reportIfCaptured(_ connection: Connection?) {
        let isEmpty = connection.flatMap { try? CaptureLog.isEmpty(on: $0) }
        guard isEmpty != true else { return }
        if isEmpty == false {
            hasReported = true
            planLook(after: Self.delayAfterReport)
        }
        onCapture()
    }
}

// MARK: Silence

extension CaptureWatch {
    /// Looks without a notification, and closes the connection once nothing has happened for some time.
    private func takePoll() {
        guard !isStopped else { return }
        pollNumber += 1
        if isNotifiedOfAll, connection == nil, !pollNumber.isMultiple(of: Self.pollsBetweenFullOnes)
        {
            guard pollNumber.isMultiple(of: Self.pollsBetweenIdentities),
                !traces.areOfFile(at: path)
            else { return }
        }
        let current = FileTraces(path: path, logPath: logPath)
        if current != traces {
            let isSameFile = current.isOfSameFile(as: traces)
            traces = current
            if isSameFile {
                look()
            } else {
                // Programs write to another file now: the drain reports it.
                close()
                onCapture()
            }
        } else if let lastSign {
            lookAtDatabase()
            guard .now >= lastSign + options.doubt else { return }
            // From here on every commit changes the traces.
            if isFreeOfWriters { close() }
        }
    }

    /// Closes the connection early if many are open, and the kernel notifies of each write.
    private func closeAmongMany() {
        guard OpenConnections.areMany, isNotifiedOfAll else { return }
        // A write after this is notified, and changes the traces.
        let current = FileTraces(path: path, logPath: logPath)
        // The next poll reports another file.
        guard current.isOfSameFile(as: traces) else { return }
        traces = current
        if isFreeOfWriters { close() }
    }

    /// Whether no other connection is about to commit what it has already written, which changes no file: a slow
    /// disk may take long to make it durable.
    private var isFreeOfWriters: Bool {
        guard let connection else { return false }
        let current = try? connection.transaction(.immediate) {
            try connection.integer("PRAGMA data_version")
        }
        return current != nil && current == dataVersion
    }

    private func open() throws(SQLiteError) -> Connection {
        let connection = try Connection(path: path, .init(mode: .readWrite, busyTimeout: .zero))
        // All watches would wait for a checkpoint.
        try connection.setCheckpointOnClose(false)
        dataVersion = try connection.integer("PRAGMA data_version")
        self.connection = connection
        ticket = OpenConnections.Ticket()
        return connection
    }

    private func close() {
        guard let connection else { return }
        connection.close()
        ReleasedMemory.giveBackSoon()
        self.connection = nil
        ticket = nil
        lastSign = nil
    }
}
