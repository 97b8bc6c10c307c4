import CLinux
import Glibc
import Synchronization

/// Whether a thread is at work on a database, and how far it has got; other threads read it at any time.
///
/// A step is a number of instructions of SQLite's machine, a piece of work done, or a read or write of the
/// thread in a file: a commit executes no instructions, but a long one writes, and one instruction that
/// removes a large value reads each of its pages. Work that lasts and makes steps is long; work that lasts
/// and makes none hangs.
package final class WorkMeter: Sendable {
    private let steps = Atomic<UInt64>(0)
    /// The kernel's number of the thread at work; 0 if none is.
    private let thread = Atomic<Int32>(0)

    package struct Reading: Hashable, Sendable {
        package let isAtWork: Bool
        package let steps: UInt64

        package init(isAtWork: Bool, steps: UInt64) {
            self.isAtWork = isAtWork
            self.steps = steps
        }
    }

    package init() {}

    package var reading: Reading {
        let thread = thread.load(ordering: .relaxed)
        let steps = steps.load(ordering: .relaxed)
        guard thread != 0 else { return Reading(isAtWork: false, steps: steps) }
        return Reading(isAtWork: true, steps: steps &+ Self.transfers(ofThread: thread))
    }

    package func countStep() {
        steps.wrappingAdd(1, ordering: .relaxed)
    }

    /// Does a piece of work; one at a time.
    package func measuring<Result, Failure: Error>(
        _ work: () throws(Failure) -> Result
    ) throws(Failure) -> Result {
        thread.store(linux_thread_id(), ordering: .relaxed)
        defer {
            thread.store(0, ordering: .relaxed)
            countStep()
        }
        return try work()
    }

    /// The number of reads and writes of the thread; 0 if the kernel does not report them.
    private static func transfers(ofThread thread: Int32) -> UInt64 {
        let descriptor = open("/proc/self/task/\(thread)/io", O_RDONLY | O_CLOEXEC)
        guard descriptor >= 0 else { return 0 }
        defer { close(descriptor) }
        let text = withUnsafeTemporaryAllocation(byteCount: 1024, alignment: 1) { buffer in
            let count = read(descriptor, buffer.baseAddress, buffer.count)
            return String(decoding: buffer.prefix(max(0, count)), as: UTF8.self)
        }
        return text.split(separator: "\n").reduce(0) { total, line in
            let name = ["syscr: ", "syscw: "].first { line.hasPrefix($0) }
            let number = name.flatMap { UInt64(line.dropFirst($0.count)) }
            return total &+ (number ?? 0)
        }
    }
}
