import Changesets
import ClientReset
package import LocalRealm

/// How one client reset of a realm ended.
package struct ResetResult: Sendable {
    package let report: ResetReport
    let mode: ResetMode
    /// Where what was discarded is kept; nil if nothing was, or nothing is to be kept.
    let exportPath: String?
    /// A copy of the whole realm as it was, for a cause after which changes may be unknown.
    let copyPath: String?
    /// What the delegate wants done after it.
    let decision: RealmDecision

    /// Where to look for what is no longer in the realm.
    package var keptPath: String? { copyPath ?? exportPath }
}

extension ResetReport {
    /// How many changes are no longer in the realm, by class.
    var discardedByClass: [String: Int] {
        let classes = didRecover ? discarded.map(\.object.className) : unsynced.map(\.className)
        return classes.reduce(into: [:]) { $0[$1.description, default: 0] += 1 }
    }
}
