/// How a sync or a wait ended.
public struct SyncResult: Equatable, Sendable {
    public enum Outcome: Equatable, Sendable {
        /// Everything local is acknowledged, and everything the server had is here.
        case done
        case failed
        /// The file is not a realm, or another user's; or its schema does not fit.
        case configuration
        case offline
        case loginRequired
        case resetRequired
        case timedOut
    }

    public let outcome: Outcome
    /// A sentence for people; nil if the outcome is `done`.
    public let detail: String?
    /// Bytes of changesets transferred meanwhile.
    public let uploadedBytes: UInt64
    public let downloadedBytes: UInt64

    package init(
        _ outcome: Outcome,
        detail: String? = nil,
        uploadedBytes: UInt64 = 0,
        downloadedBytes: UInt64 = 0
    ) {
        self.outcome = outcome
        self.detail = detail
        self.uploadedBytes = uploadedBytes
        self.downloadedBytes = downloadedBytes
    }
}
