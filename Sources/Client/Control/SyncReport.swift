/// What became of "sync now": the answer of `POST /v1/realms/R/sync`, one for each realm.
package struct SyncReport: Codable, Sendable, Equatable {
    package let realm: String
    package let outcome: Outcome
    /// A sentence for people where the outcome is not `done`.
    package let detail: String?
    package let uploadedBytes: UInt64
    package let downloadedBytes: UInt64

    package init(
        realm: String,
        outcome: Outcome,
        detail: String? = nil,
        uploadedBytes: UInt64 = 0,
        downloadedBytes: UInt64 = 0
    ) {
        self.realm = realm
        self.outcome = outcome
        self.detail = detail
        self.uploadedBytes = uploadedBytes
        self.downloadedBytes = downloadedBytes
    }

    /// How it ended; each maps to an exit code (overview, 2; interfaces, 5).
    package enum Outcome: String, Codable, Sendable, CaseIterable {
        /// Everything local is acknowledged, and everything the server had is here.
        case done
        case failed
        /// The file is no realm, or another user's; its schema does not fit.
        case configuration
        case offline
        case loginRequired = "login-required"
        case resetRequired = "reset-required"
        case timedOut = "timed-out"
    }
}

/// The body of `POST /v1/realms/R/sync`.
package struct SyncRequest: Codable, Sendable {
    /// Seconds until the agent answers with `timed-out`; absent means as long as it takes.
    package let timeoutInSeconds: Double?

    /// Up to some thirty years: a number of seconds that is no duration ends no agent.
    static let timeoutRange = 0...1e9

    package init(timeoutInSeconds: Double?) {
        self.timeoutInSeconds = timeoutInSeconds
    }
}
