import NIOHTTP1

extension ControlClient {
    private struct Done: Decodable, Sendable {
        let status: String
    }

    static let callTimeout = Duration.seconds(30)
    /// For requests that the agent limits itself, or that have no limit.
    private static let forever = Duration.seconds(365 * 86_400)

    package func wait(
        _ request: WaitRequest,
        for realm: String
    ) async throws(ControlError) -> SyncReport {
        let limit = request.timeoutInSeconds.map { Duration.seconds($0) + .seconds(10) }
        return try await post(
            "v1/realms/\(realm)/wait",
            request,
            timeout: limit ?? Self.forever
        )
    }

    package func suspend(
        _ realm: String,
        _ request: SuspendRequest
    ) async throws(ControlError) {
        let _: Done = try await post("v1/realms/\(realm)/suspend", request)
    }

    package func resume(_ realm: String) async throws(ControlError) {
        let _: Done = try await call(.POST, "v1/realms/\(realm)/resume", timeout: Self.callTimeout)
    }

    package func reconnect() async throws(ControlError) {
        let _: Done = try await call(.POST, "v1/reconnect", timeout: Self.callTimeout)
    }

    package func users() async throws(ControlError) -> UsersReport {
        try await call(.GET, "v1/users", timeout: Self.callTimeout)
    }

    package func perform(
        _ operation: UserOperation,
        on user: String,
        _ request: UserRequest
    ) async throws(ControlError) -> UserReport {
        try await post(
            "v1/users/\(user)/\(operation.rawValue)",
            request,
            timeout: .seconds(180)
        )
    }

    /// `{"custom_data":{…}}`, as text.
    package func customData(of user: String) async throws(ControlError) -> String {
        try await text("v1/users/\(user)/custom-data")
    }

    /// Calls the body with each report until the agent has no more.
    package func progress(
        _ request: ProgressRequest,
        of realm: String,
        _ body: (ProgressReport) async throws -> Void
    ) async throws {
        let path =
            "v1/realms/\(realm)/progress?direction=\(request.direction.rawValue)"
            + "&mode=\(request.mode.rawValue)"
        try await lines(path, as: ProgressReport.self, body)
    }

    func post<Answer: Decodable & Sendable>(
        _ path: String,
        _ request: some Encodable,
        timeout: Duration = callTimeout
    ) async throws(ControlError) -> Answer {
        let body = (try? JSONBody.encode(request)) ?? []
        return try await call(.POST, path, body: body, timeout: timeout)
    }
}
