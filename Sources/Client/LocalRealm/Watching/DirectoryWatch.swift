internal import Glibc

/// Reports writes to files through inotify: one instance for all realms of the process, since the
/// kernel grants a user few of them.
///
/// It watches directories, not files: a log comes and goes. Everything runs on its thread, which
/// makes it safe to share.
final class DirectoryWatch: @unchecked Sendable {
    static let shared = DirectoryWatch()

    /// It serves all watches: their work takes microseconds.
    let thread = WatchThread()
    /// For file systems that report nothing.
    let polls: SharedPolls
    /// Nil before the first subscription, and if the kernel does not support notifications.
    private var descriptor: Int32?
    /// By watch descriptor, which is the same for every path of a directory.
    private var directories: [Int32: [Subscription: Subscriber]] = [:]
    private var lastNumber: UInt64 = 0

    private struct Subscriber {
        let names: Set<String>
        let onWrite: () -> Interest
    }

    /// Whether a subscriber needs the next notification soon.
    enum Interest {
        case urgent
        case relaxed
    }

    /// Identifies a subscription until its end.
    struct Subscription: Hashable {
        fileprivate let directory: Int32
        fileprivate let number: UInt64
    }

    private init() {
        self.polls = SharedPolls(on: thread)
    }

    private static let events = UInt32(IN_MODIFY | IN_CREATE | IN_MOVED_TO)
    /// For so long after a notification no other one is read: a transaction writes its log many
    /// times.
    private static let pause = Duration.milliseconds(1)
    /// The same if no one who heard of the last ones is in a hurry; others may be.
    private static let longPause = Duration.milliseconds(8)

    /// Calls the closure, on the thread, after writes to files of those names. Call it on the thread.
    ///
    /// - Returns: nil if the kernel or the file system does not support notifications.
    func subscribe(
        to names: Set<String>,
        in directory: String,
        _ onWrite: @escaping () -> Interest
    ) -> Subscription? {
        guard let descriptor = descriptor ?? open() else { return nil }
        let watch = inotify_add_watch(descriptor, directory, Self.events)
        guard watch >= 0 else { return nil }
        lastNumber += 1
        let subscription = Subscription(directory: watch, number: lastNumber)
        directories[watch, default: [:]][subscription] = Subscriber(names: names, onWrite: onWrite)
        return subscription
    }

    /// Ends a subscription. Call it on the thread.
    func end(_ subscription: Subscription) {
        let watch = subscription.directory
        // The kernel has already ended those of a removed directory.
        guard let descriptor, directories[watch] != nil else { return }
        directories[watch]?[subscription] = nil
        guard directories[watch]?.isEmpty == true else { return }
        directories[watch] = nil
        inotify_rm_watch(descriptor, watch)
    }

    private func open() -> Int32? {
        let descriptor = inotify_init1(Int32(IN_NONBLOCK) | Int32(IN_CLOEXEC))
        guard descriptor >= 0 else { return nil }
        self.descriptor = descriptor
        thread.read(descriptor) { [self] in takeEvents(of: descriptor) }
        return descriptor
    }

    // MARK: Events

    /// Returns the time for which no other notification is read.
    private func takeEvents(of descriptor: Int32) -> Duration {
        let interests = readEvents(descriptor).map { $0.onWrite() }
        let isRelaxed = !interests.isEmpty && !interests.contains(.urgent)
        return isRelaxed ? Self.longPause : Self.pause
    }

    /// Reads all waiting events; returns the subscriptions they concern, each once.
    private func readEvents(_ descriptor: Int32) -> [Subscriber] {
        var concerned: [Subscription: Subscriber] = [:]
        withUnsafeTemporaryAllocation(byteCount: 16 << 10, alignment: 8) { buffer in
            while true {
                let count = read(descriptor, buffer.baseAddress, buffer.count)
                guard count > 0 else { return }
                note(buffer[..<count], &concerned)
            }
        }
        return concerned.sorted { $0.key.number < $1.key.number }.map(\.value)
    }

    private func note(
        _ events: Slice<UnsafeMutableRawBufferPointer>,
        _ concerned: inout [Subscription: Subscriber]
    ) {
        let header = MemoryLayout<inotify_event>.size
        var rest = events
        while rest.count >= header {
            let event = UnsafeRawBufferPointer(rebasing: rest).loadUnaligned(
                as: inotify_event.self
            )
            rest = rest.dropFirst(header)
            let name = rest.prefix(Int(event.len)).prefix { $0 != 0 }
            rest = rest.dropFirst(Int(event.len))
            if event.mask & UInt32(IN_Q_OVERFLOW) != 0 {
                // An overflown queue gives no names.
                for directory in directories.values {
                    concerned.merge(directory) { first, _ in first }
                }
            } else if event.mask & UInt32(IN_IGNORED) != 0 {
                // The directory was removed: polling finds later writes.
                directories[event.wd] = nil
            } else if let directory = directories[event.wd] {
                let name = String(decoding: name, as: UTF8.self)
                for (subscription, subscriber) in directory where subscriber.names.contains(name) {
                    concerned[subscription] = subscriber
                }
            }
        }
    }
}
