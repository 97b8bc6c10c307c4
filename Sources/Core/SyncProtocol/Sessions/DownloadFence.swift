import Versions

/// The MARKs of one client session: "I have everything that existed when you saw this" (sync
/// history, 9.1).
///
/// Requests coalesce: only the answer to the newest one completes them, and completes all of them.
struct DownloadFence: Hashable, Sendable {
    private var target = RequestIdent.none
    private var lastSent = RequestIdent.none
    private var lastReceived = RequestIdent.none
    private var lastTriggered = RequestIdent.none
    /// The progress when the last MARK arrived; it may not be integrated yet.
    private var serverVersionAtLastMark = ServerVersion.zero

    /// Whether a request is not completed yet.
    var isAwaited: Bool { target > lastTriggered }

    mutating func request() {
        target = target.next
    }

    /// Sends unanswered requests again.
    mutating func rebind() {
        lastSent = lastReceived
    }

    /// The MARK to send now, if one is due.
    mutating func takeMark() -> RequestIdent? {
        guard target > lastSent else { return nil }
        lastSent = target
        return target
    }

    /// Handles the server's answer; false if no pending request has that ident.
    mutating func receive(_ request: RequestIdent, downloaded: ServerVersion) -> Bool {
        guard request <= lastSent, request > lastReceived else { return false }
        lastReceived = request
        serverVersionAtLastMark = downloaded
        return true
    }

    /// True once for each answer to the newest request, when everything before it is integrated.
    mutating func takeCompletion(integrated: ServerVersion) -> Bool {
        guard lastReceived != lastTriggered, lastReceived >= target,
            integrated >= serverVersionAtLastMark
        else { return false }
        lastTriggered = target
        return true
    }
}
