import ClientReset
package import Control

extension AgentService {
    package func reset(
        realm: String,
        mode: String?,
        isRehearsal: Bool
    ) async throws(ControlError) -> ResetAnswer {
        var known: ResetMode?
        if let mode {
            known = ResetMode(rawValue: mode)
            guard known != nil else { throw .unknownResetMode(mode) }
        }
        return try await supervisor(of: realm).reset(mode: known, isRehearsal: isRehearsal)
    }

    package func restart(realm: String) async throws(ControlError) {
        try await supervisor(of: realm).restart()
    }
}
