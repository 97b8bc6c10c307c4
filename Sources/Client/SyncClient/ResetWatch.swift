import ClientReset
import SyncProtocol
import Versions

/// A client's state concerning resets of its realm (client reset, 1).
struct ResetWatch {
    /// Resets are carried out automatically, so waiters for a sync keep waiting.
    var isAutomatic = false
    /// A reset is about to begin.
    var isRequested: Bool { isAutomatic && cause != nil }
    /// The session is detached because of a reset, and returns after it.
    var isSessionDetached = false
    /// The reset that is needed.
    var cause: ResetCause?
    /// The server demands that the file be removed.
    var removal: SessionIssue?
    /// The condition under which a completed reset counts as proven; nil if there is none.
    var proof: Proof?

    /// Everything down, and everything up to that version.
    struct Proof {
        var needsDownload = true
        let uploadTarget: ClientVersion
    }
}
