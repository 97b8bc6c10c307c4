import Changesets
import ClientReset
import LocalRealm
import Plugins

/// What one client reset of a realm came to.
struct ResetResult: Sendable {
    let report: ResetReport
    let mode: ResetMode
    /// Where what was discarded is kept; nil if nothing was, or nothing is to be kept.
    let exportPath: String?
    /// A copy of the whole realm as it was, for a cause after which changes may be unknown.
    let copyPath: String?
    /// What the handlers that were told afterwards want.
    let verdict: HandlerVerdict

    /// Where to look for what is not in the realm any more.
    var keptPath: String? { copyPath ?? exportPath }
}

extension ResetReport {
    /// How many changes are in the realm no more, by class.
    var discardedByClass: [String: Int] {
        let classes = didRecover ? discarded.map(\.object.className) : unsynced.map(\.className)
        return classes.reduce(into: [:]) { $0[$1.description, default: 0] += 1 }
    }
}
