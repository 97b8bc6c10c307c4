import Changesets
import ClientReset
package import LocalRealm

/// The result of one client reset of a realm.
package struct ResetResult: Sendable {
    package let report: ResetReport
    let mode: ResetMode
    /// Path of the discarded changes; nil if nothing was discarded, or nothing is to be kept.
    let exportPath: String?
    /// Path of the archived realm, if its unsynced changes may be unknown.
    let copyPath: String?
    /// Whether the realm has changed between a partition and subscriptions.
    let hasSwitched: Bool
    /// The delegate's decision after the reset.
    let decision: RealmDecision

    /// Path of the changes that are no longer in the realm.
    package var keptPath: String? { copyPath ?? exportPath }
}

extension ResetReport {
    /// Number of discarded changes, by class.
    var discardedByClass: [String: Int] {
        let classes = didRecover ? discarded.map(\.object.className) : unsynced.map(\.className)
        return classes.reduce(into: [:]) { $0[$1.description, default: 0] += 1 }
    }
}
