import Versions

/// The subscription sets of one session at the server: the one in force, and those that the store
/// works on.
struct SubscriptionTurn: Sendable {
    /// The version of the DOWNLOADs that follow.
    private(set) var active: QueryVersion
    /// The newest version in the IDENT or a QUERY.
    private var received: QueryVersion
    /// Steps without a result.
    private var outstanding = 0
    /// Whether the step of the IDENT has no result yet: the first one, if there is one.
    private(set) var isOfIdent = false
    /// Whether the first of these steps has begun to send.
    private(set) var isAtWork = false
    /// The acknowledgement in the last DOWNLOAD.
    private var acknowledged = UploadCursor.zero

    /// Versions without anything for the client, after which it gets an empty DOWNLOAD: its cursor lets
    /// history be trimmed (flexible sync, 13.4).
    private static let versionsWithoutDownload: UInt64 = 1000

    init(active: QueryVersion) {
        self.active = active
        self.received = active
    }

    /// Whether a step has no result yet.
    var isWaiting: Bool { outstanding > 0 }

    /// False if the version is not newer than the last one.
    mutating func admit(_ version: QueryVersion) -> Bool {
        guard version > received else { return false }
        received = version
        return true
    }

    mutating func begin(isOfIdent: Bool) {
        outstanding += 1
        if isOfIdent { self.isOfIdent = true }
    }

    mutating func beginWork() { isAtWork = true }

    /// The first step has a result: its set is refused, and the one before stays in force.
    mutating func refused() { endStep() }

    private mutating func endStep() {
        outstanding -= 1
        isAtWork = false
        isOfIdent = false
    }

    /// The first step has sent its bootstrap.
    mutating func completed(_ version: QueryVersion) {
        active = version
        endStep()
    }

    mutating func noteSent(_ progress: SyncProgress) {
        acknowledged = progress.upload
    }

    /// Whether the client need not hear of a scan without changesets.
    func canWait(_ progress: SyncProgress, sent: DownloadCursor) -> Bool {
        let gap = progress.download.serverVersion.rawValue &- sent.serverVersion.rawValue
        return progress.upload == acknowledged && gap < Self.versionsWithoutDownload
    }
}
