import ClientReset
package import Control
import RealmSync

extension AgentService {
    package func reset(
        realm name: String,
        _ request: ResetRequest
    ) async throws(ControlError) -> ResetResponse {
        var mode: ResetMode?
        if let word = request.mode {
            mode = ResetMode(rawValue: word)
            guard mode != nil else { throw .unknownResetMode(word) }
        }
        let realm = try await realm(name).realm
        do throws(ResetRefusal) {
            if let token = request.token {
                return ResetResponse(name, try await realm.startOver(token: token))
            }
            let isRehearsal = request.dryRun ?? false
            return ResetResponse(name, try await realm.reset(mode: mode, isRehearsal: isRehearsal))
        } catch {
            throw ControlError(error, realm: name)
        }
    }

    package func restart(realm name: String) async throws(ControlError) {
        try await realm(name).realm.restart()
    }
}
