internal import Dispatch
internal import Glibc

/// Reports writes to a database's files through inotify.
///
/// It watches the directory, not the log file: that one comes and goes.
final class DirectoryWatch: @unchecked Sendable {
    private let descriptor: Int32
    private let names: Set<String>
    private var source: (any DispatchSourceRead)?

    /// Nil where the kernel or the file system offers no notifications.
    init?(databasePath: String) {
        let parts = databasePath.split(separator: "/", omittingEmptySubsequences: false)
        let name = String(parts.last ?? "")
        let directory = parts.dropLast().joined(separator: "/")
        let isAbsolute = databasePath.hasPrefix("/")

        let descriptor = inotify_init1(Int32(IN_NONBLOCK) | Int32(IN_CLOEXEC))
        guard descriptor >= 0 else { return nil }
        let events = UInt32(IN_MODIFY | IN_CREATE | IN_MOVED_TO)
        let watched = directory.isEmpty ? (isAbsolute ? "/" : ".") : directory
        guard inotify_add_watch(descriptor, watched, events) >= 0 else {
            close(descriptor)
            return nil
        }
        self.descriptor = descriptor
        // The database itself is written to in the rollback-journal modes.
        self.names = [name, name + "-wal"]
    }

    deinit {
        if source == nil { close(descriptor) }
    }

    func start(on queue: DispatchQueue, _ onWrite: @escaping @Sendable () -> Void) {
        let source = DispatchSource.makeReadSource(fileDescriptor: descriptor, queue: queue)
        source.setEventHandler { [weak self] in
            if self?.readEvents() == true { onWrite() }
        }
        source.setCancelHandler { [descriptor] in close(descriptor) }
        source.activate()
        self.source = source
    }

    func stop() {
        source?.cancel()
    }

    /// Takes all events that are waiting; whether one of them is about the database.
    private func readEvents() -> Bool {
        var isAffected = false
        withUnsafeTemporaryAllocation(byteCount: 16 << 10, alignment: 8) { buffer in
            while true {
                let count = read(descriptor, buffer.baseAddress, buffer.count)
                guard count > 0 else { return }
                isAffected = concernsDatabase(buffer[..<count]) || isAffected
            }
        }
        return isAffected
    }

    private func concernsDatabase(_ events: Slice<UnsafeMutableRawBufferPointer>) -> Bool {
        let header = MemoryLayout<inotify_event>.size
        var rest = events
        while rest.count >= header {
            let event = UnsafeRawBufferPointer(rebasing: rest).loadUnaligned(
                as: inotify_event.self
            )
            // A queue that has overflown says nothing about names.
            if event.mask & UInt32(IN_Q_OVERFLOW) != 0 { return true }
            rest = rest.dropFirst(header)
            let name = rest.prefix(Int(event.len)).prefix { $0 != 0 }
            if names.contains(String(decoding: name, as: UTF8.self)) { return true }
            rest = rest.dropFirst(Int(event.len))
        }
        return false
    }
}
