import Synchronization

/// The uploads of all connections that wait for the store, and whether it gets on with them.
final class UploadBacklog: Sendable {
    private struct State {
        var sizeInBytes = 0
        var finished: UInt64 = 0
    }

    private let state = Mutex(State())

    /// Above it, nothing more is read from those clients whose uploads wait.
    private static let limit = ConnectionLimits.uploadsOfAllInBytes

    /// Number of uploads that the store has finished, successfully or not.
    var finished: UInt64 { state.withLock { $0.finished } }

    var sizeInBytes: Int { state.withLock { $0.sizeInBytes } }

    var isFull: Bool { sizeInBytes >= Self.limit }

    /// Whether what was read may wait, too: one message of each connection comes on top of the limit. One
    /// upload is always taken, however large.
    func admits(_ size: Int) -> Bool {
        state.withLock { $0.sizeInBytes == 0 || $0.sizeInBytes + size <= 2 * Self.limit }
    }

    func change(by difference: Int) {
        if difference != 0 { state.withLock { $0.sizeInBytes += difference } }
    }

    func noteFinished() {
        state.withLock { $0.finished += 1 }
    }
}
