import NIOHTTP1

extension ControlClient {
    /// Copying takes as long as the file is large.
    package func copy(
        _ realm: String,
        _ request: CopyRequest
    ) async throws(ControlError) -> CopyReport {
        try await post("v1/realms/\(realm)/copy", request, timeout: .seconds(365 * 86_400))
    }

    /// The same, with reports on its progress to the body.
    ///
    /// - Throws: `ControlError`, or that the task is cancelled.
    package func copy(
        _ realm: String,
        _ request: CopyRequest,
        _ note: (CopyProgress) -> Void
    ) async throws -> CopyReport {
        var request = request
        request.progress = true
        var report: CopyReport?
        try await lines(
            "v1/realms/\(realm)/copy",
            as: CopyLine.self,
            posting: (try? JSONBody.encode(request)) ?? []
        ) { line in
            if let error = line.error { throw error }
            if let progress = line.progress { note(progress) }
            if let result = line.result { report = result }
        }
        guard let report else { throw ControlError.malformedAnswer }
        return report
    }

    package func delete(
        _ realm: String,
        _ request: DeleteRequest
    ) async throws(ControlError) -> DeleteReport {
        try await post("v1/realms/\(realm)/delete", request)
    }

    package func retryReject(
        _ id: Int64,
        of realm: String
    ) async throws(ControlError) -> RetryReport {
        try await call(.POST, "v1/realms/\(realm)/rejects/\(id)/retry", timeout: .seconds(60))
    }

    package func rejects(
        of realm: String,
        limit: Int
    ) async throws(ControlError) -> RejectsReport {
        try await call(.GET, "v1/realms/\(realm)/rejects?limit=\(limit)", timeout: .seconds(60))
    }
}
