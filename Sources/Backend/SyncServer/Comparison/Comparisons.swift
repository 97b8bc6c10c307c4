import Synchronization

/// Whether a comparison is running in this process.
package final class Comparisons: Sendable {
    package let limits: ComparisonLimits
    private let isRunning = Atomic(false)

    package init(limits: ComparisonLimits = ComparisonLimits()) {
        self.limits = limits
    }

    /// False if one is running.
    func begin() -> Bool { !isRunning.exchange(true, ordering: .acquiring) }

    func end() {
        isRunning.store(false, ordering: .releasing)
    }
}
