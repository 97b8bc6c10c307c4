/// The agent's operations on single realms and users, except status and sync (interfaces, 6).
package protocol RealmOperations: Sendable {
    /// Returns when the transfers that the request names are complete, or its timeout has passed.
    func wait(_ request: WaitRequest, for realm: String) async throws(ControlError) -> SyncReport
    /// Progress of one direction; the stream ends when the transfer is complete, the realm ends, or
    /// the reader leaves.
    func progress(
        _ request: ProgressRequest,
        of realm: String
    ) async throws(ControlError) -> AsyncStream<ProgressReport>
    func subscriptions(of realm: String) async throws(ControlError) -> SubscriptionsReport
    func changeSubscriptions(
        of realm: String,
        _ request: SubscriptionsRequest
    ) async throws(ControlError) -> SubscriptionsChange
    /// Compares the realm with its server; the last line has the result or the error.
    func verify(
        _ realm: String,
        _ request: VerifyRequest
    ) async throws(ControlError) -> AsyncStream<VerificationLine>
    func suspend(_ realm: String, _ request: SuspendRequest) async throws(ControlError)
    func resume(_ realm: String) async throws(ControlError)
    /// All realms retry now, without waiting for their back-off.
    func reconnect() async

    func users() async throws(ControlError) -> UsersReport
    func perform(
        _ operation: UserOperation,
        on user: String,
        _ request: UserRequest
    ) async throws(ControlError) -> UserReport
    /// The custom data in the user's access token: a JSON object, as text.
    func customData(of user: String) async throws(ControlError) -> String
    /// Lists or changes the user's own API keys.
    func apiKeys(
        of user: String,
        _ request: UserKeyRequest
    ) async throws(ControlError) -> UserKeysReport
}

/// The body of `POST /v1/realms/R/wait`.
package struct WaitRequest: Codable, Sendable, Equatable {
    package enum Direction: String, Codable, Sendable, CaseIterable {
        case upload, download
    }

    /// Both if absent.
    package var directions: [Direction]?
    /// First waits until the realm is open, as configured; without directions, waits for nothing
    /// else.
    package var untilOpen: Bool?
    /// Absent means no limit.
    package var timeoutInSeconds: Double?

    package init(
        directions: [Direction]?,
        untilOpen: Bool? = nil,
        timeoutInSeconds: Double?
    ) {
        self.directions = directions
        self.untilOpen = untilOpen
        self.timeoutInSeconds = timeoutInSeconds
    }
}

/// The query of `GET /v1/realms/R/progress`.
package struct ProgressRequest: Sendable, Equatable {
    package enum Mode: String, Sendable, CaseIterable {
        /// Every change.
        case indefinite
        /// Only what is pending now.
        case outstanding
    }

    package let direction: WaitRequest.Direction
    package let mode: Mode

    package init(direction: WaitRequest.Direction, mode: Mode) {
        self.direction = direction
        self.mode = mode
    }
}

/// One line of `GET /v1/realms/R/progress`.
package struct ProgressReport: Codable, Sendable, Equatable {
    package let realm: String
    package let direction: String
    package let transferredBytes: UInt64
    package let transferableBytes: UInt64
    /// 0 to 1; 1 only when nothing is left.
    package let estimate: Double

    package init(
        realm: String,
        direction: String,
        transferredBytes: UInt64,
        transferableBytes: UInt64,
        estimate: Double
    ) {
        self.realm = realm
        self.direction = direction
        self.transferredBytes = transferredBytes
        self.transferableBytes = transferableBytes
        self.estimate = estimate
    }
}

/// The body of `POST /v1/realms/R/suspend`.
package struct SuspendRequest: Codable, Sendable, Equatable {
    /// Absent means until an operator resumes the realm.
    package var seconds: Double?
    /// The end, ISO 8601, instead of `seconds`.
    package var until: String?

    package init(seconds: Double?, until: String? = nil) {
        self.seconds = seconds
        self.until = until
    }
}

/// The body of `POST /v1/realms/R/delete`.
package struct DeleteRequest: Codable, Sendable, Equatable {
    /// Deletes the files even if local writes are not acknowledged.
    package var force: Bool?

    package init(force: Bool?) {
        self.force = force
    }
}

/// The answer of `POST /v1/realms/R/delete`.
package struct DeleteReport: Codable, Sendable, Equatable {
    package let realm: String
    /// Paths of the deleted files.
    package let files: [String]

    package init(realm: String, files: [String]) {
        self.realm = realm
        self.files = files
    }
}
