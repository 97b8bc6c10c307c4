/// The result of a sync request: the response to `POST /v1/realms/R/sync`, one for each realm.
package struct SyncReport: Codable, Sendable, Equatable {
    package let realm: String
    package let outcome: Outcome
    /// A sentence for people where the outcome is not `done`.
    package let detail: String?
    /// The code of `docs/errors.md`, and what to do about it; absent where the outcome has none.
    package let code: String?
    package let remedy: String?
    package let uploadedBytes: UInt64
    package let downloadedBytes: UInt64

    package init(
        realm: String,
        outcome: Outcome,
        detail: String? = nil,
        code: String? = nil,
        remedy: String? = nil,
        uploadedBytes: UInt64 = 0,
        downloadedBytes: UInt64 = 0
    ) {
        self.realm = realm
        self.outcome = outcome
        self.detail = detail
        self.code = code
        self.remedy = remedy
        self.uploadedBytes = uploadedBytes
        self.downloadedBytes = downloadedBytes
    }

    /// The outcome; each maps to an exit code (overview, 2; interfaces, 5).
    package enum Outcome: String, Codable, Sendable, CaseIterable {
        /// Everything local is acknowledged, and everything the server had is here.
        case done
        case failed
        /// The file is not a realm, or belongs to another user, or its schema does not fit.
        case configuration
        case offline
        case loginRequired = "login-required"
        case resetRequired = "reset-required"
        case timedOut = "timed-out"
    }
}

/// The body of `POST /v1/realms/R/sync`.
package struct SyncRequest: Codable, Sendable {
    /// Seconds until the agent answers with `timed-out`; absent means no limit.
    package let timeoutInSeconds: Double?

    /// Up to some thirty years: larger numbers would overflow a duration and end the agent.
    static let timeoutRange = 0...1e9

    package init(timeoutInSeconds: Double?) {
        self.timeoutInSeconds = timeoutInSeconds
    }
}
