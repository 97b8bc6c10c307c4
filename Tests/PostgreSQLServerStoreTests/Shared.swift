import Glibc
import Synchronization

/// A value that several threads change.
final class Shared<Value: Sendable>: Sendable {
    private let state: Mutex<Value>

    init(_ value: Value) {
        state = Mutex(value)
    }

    var value: Value { state.withLock { $0 } }

    func change(_ body: (inout Value) -> Void) {
        state.withLock { body(&$0) }
    }
}

/// Lets other threads run for a millisecond, on a thread that may block.
func usleepBriefly() {
    usleep(1000)
}
