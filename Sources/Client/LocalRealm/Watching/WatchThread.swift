internal import CLinux
internal import Coordination
internal import Dispatch
internal import Glibc
internal import Synchronization

/// The thread of all watches: it does pieces of work in order, at once or after a delay, and whenever a descriptor
/// can be read.
///
/// With a queue of Dispatch each notification and each planned look went through two threads and a timer of the
/// kernel, which took more processor time than the looks.
final class WatchThread: @unchecked Sendable {
    typealias Piece = () -> Void

    private struct Arrivals {
        var pieces: [Piece] = []
        /// The thread sleeps, or is about to.
        var isWaiting = false
        var isStarted = false
    }

    private struct Planned {
        let moment: ContinuousClock.Instant
        let piece: Piece
    }

    private struct Reading {
        let descriptor: Int32
        /// Returns how long the descriptor is left alone after it.
        let piece: () -> Duration
        var pausesUntil: ContinuousClock.Instant
    }

    private let arrivals = Mutex(Arrivals())
    /// Becomes readable when a piece arrives for a waiting thread.
    private let bell: Int32
    // The rest belongs to the thread.
    /// The latest first, so that the next is the last.
    private var planned: [Planned] = []
    private var reading: Reading?

    init() {
        self.bell = linux_eventfd()
    }

    /// Does the piece on the thread, behind those that came before.
    func run(_ piece: @escaping @Sendable () -> Void) {
        let (starts, rings) = arrivals.withLock { arrivals in
            arrivals.pieces.append(piece)
            defer {
                arrivals.isStarted = true
                arrivals.isWaiting = false
            }
            return (!arrivals.isStarted, arrivals.isWaiting)
        }
        // Without a thread the next piece tries again.
        if starts, !OwnThread.start({ self.work() }) { arrivals.withLock { $0.isStarted = false } }
        if rings { ring() }
    }

    /// Waits until the pieces that came before are done, for a second at most.
    func waitForPieces() {
        let isDone = DispatchSemaphore(value: 0)
        run { isDone.signal() }
        _ = isDone.wait(timeout: .now() + .seconds(1))
    }

    /// Does the piece once the time has passed. Call it on the thread.
    func run(after delay: Duration, _ piece: @escaping Piece) {
        let moment = ContinuousClock.now + delay
        let later = planned.lastIndex { $0.moment > moment }
        planned.insert(Planned(moment: moment, piece: piece), at: later.map { $0 + 1 } ?? 0)
    }

    /// Calls the closure whenever the descriptor can be read, and then leaves the descriptor alone for as long as the
    /// closure says. Call it on the thread, once.
    func read(_ descriptor: Int32, _ piece: @escaping () -> Duration) {
        reading = Reading(descriptor: descriptor, piece: piece, pausesUntil: .now)
    }

    private func ring() {
        var one: UInt64 = 1
        _ = write(bell, &one, MemoryLayout.size(ofValue: one))
    }

    // MARK: The thread

    private func work() -> Never {
        while true {
            for piece in takeArrivals() { piece() }
            let now = ContinuousClock.now
            while let next = planned.last, next.moment <= now { planned.removeLast().piece() }
            wait()
        }
    }

    private func takeArrivals() -> [Piece] {
        arrivals.withLock { arrivals in
            defer { arrivals.pieces = [] }
            return arrivals.pieces
        }
    }

    /// Waits for a piece, the next planned one, or the descriptor; and reads it.
    private func wait() {
        let mayWait = arrivals.withLock { arrivals in
            arrivals.isWaiting = arrivals.pieces.isEmpty
            return arrivals.isWaiting
        }
        let now = ContinuousClock.now
        let isReading = reading.map { $0.pausesUntil <= now } ?? false
        let next = [planned.last?.moment, isReading ? nil : reading?.pausesUntil].compactMap(\.self)
            .min()
        let pause = mayWait ? next.map { max(.zero, $0 - now) } : .zero
        let isReadable = poll(isReading ? reading?.descriptor : nil, atMost: pause)
        arrivals.withLock { $0.isWaiting = false }
        guard isReadable, let pause = reading?.piece() else { return }
        reading?.pausesUntil = .now + pause
    }

    /// - Parameter pause: nil for any time.
    /// - Returns: whether the descriptor can be read.
    private func poll(_ descriptor: Int32?, atMost pause: Duration?) -> Bool {
        var entries = [pollfd(fd: bell, events: Int16(POLLIN), revents: 0)]
        if let descriptor {
            entries.append(pollfd(fd: descriptor, events: Int16(POLLIN), revents: 0))
        }
        _ = linux_poll(&entries, entries.count, pause?.nanoseconds ?? -1)
        if entries[0].revents != 0 {
            var rings: UInt64 = 0
            _ = Glibc.read(bell, &rings, MemoryLayout.size(ofValue: rings))
        }
        return entries.count == 2 && entries[1].revents != 0
    }
}

extension Duration {
    /// At most a day: the thread then waits again.
    fileprivate var nanoseconds: Int64 {
        let (seconds, attoseconds) = min(self, .seconds(86_400)).components
        return seconds * 1_000_000_000 + attoseconds / 1_000_000_000
    }
}
