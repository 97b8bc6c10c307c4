import CLinux
import Dispatch
import Synchronization

/// The memory that closed connections leave behind: the C library keeps it unless it is asked to give it back.
package enum ReleasedMemory {
    private static let isPlanned = Mutex(false)
    /// Connections close in groups; going through all heaps takes milliseconds.
    private static let pause = DispatchTimeInterval.seconds(2)

    /// Gives it back to the system within a few seconds, once for all calls until then.
    package static func giveBackSoon() {
        let isFirst = isPlanned.withLock { isPlanned in
            defer { isPlanned = true }
            return !isPlanned
        }
        guard isFirst else { return }
        DispatchQueue.global(qos: .utility).asyncAfter(deadline: .now() + pause) {
            isPlanned.withLock { $0 = false }
            linux_return_memory()
        }
    }
}
