import NIOHTTP1

extension ControlClient {
    /// A reset takes as long as the download of the realm.
    package func reset(
        realm: String,
        _ request: ResetRequest
    ) async throws(ControlError) -> ResetResponse {
        try await call(
            .POST,
            "v1/realms/\(realm)/reset",
            body: (try? JSONBody.encode(request)) ?? [],
            timeout: .seconds(365 * 86400)
        )
    }

    package func restart(realm: String) async throws(ControlError) -> EmptyResponse {
        try await call(.POST, "v1/realms/\(realm)/restart", timeout: .seconds(30))
    }
}
