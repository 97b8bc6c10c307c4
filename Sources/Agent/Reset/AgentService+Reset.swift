import ClientReset
package import Control

extension AgentService {
    package func reset(
        realm: String,
        _ request: ResetRequest
    ) async throws(ControlError) -> ResetAnswer {
        var mode: ResetMode?
        if let word = request.mode {
            mode = ResetMode(rawValue: word)
            guard mode != nil else { throw .unknownResetMode(word) }
        }
        let supervisor = try await supervisor(of: realm)
        if let token = request.token { return try await supervisor.startOver(token: token) }
        return try await supervisor.reset(mode: mode, isRehearsal: request.dryRun ?? false)
    }

    package func restart(realm: String) async throws(ControlError) {
        try await supervisor(of: realm).restart()
    }
}
