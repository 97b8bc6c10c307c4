/// The result of a sync or a wait.
public struct SyncResult: Equatable, Sendable {
    public enum Outcome: Equatable, Sendable {
        /// The requested transfers are complete: local changes are acknowledged, the server's are here.
        case done
        /// An error that retrying does not clear.
        case failed
        /// The file is not a realm, or belongs to another user, or its schema does not fit.
        case configuration
        /// No connection, or the realm is suspended or stopping.
        case offline
        /// The user must log in first.
        case loginRequired
        /// A client reset needs a decision first.
        case resetRequired
        /// The caller's timeout, or that of the open requirement, has passed.
        case timedOut
    }

    public let outcome: Outcome
    /// A sentence for people; nil if the outcome is ``Outcome/done``.
    public let detail: String?
    /// The code of `docs/errors.md`; nil if the outcome is ``Outcome/done``, or has no code.
    public let code: String?
    /// Bytes of changesets uploaded during the sync; 0 for a wait.
    public let uploadedBytes: UInt64
    /// Bytes of changesets downloaded during the sync; 0 for a wait.
    public let downloadedBytes: UInt64

    package init(
        _ outcome: Outcome,
        detail: String? = nil,
        code: String? = nil,
        uploadedBytes: UInt64 = 0,
        downloadedBytes: UInt64 = 0
    ) {
        self.outcome = outcome
        self.detail = detail
        self.code = code
        self.uploadedBytes = uploadedBytes
        self.downloadedBytes = downloadedBytes
    }
}
