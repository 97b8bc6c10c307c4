import LocalRealm
import Logging
import SyncProtocol
import Versions

/// Writes that the server rejects and undoes (flexible sync, 11).
extension RealmClient {
    /// Stores the rejected writes before the compensating write arrives and changes their rows. After a
    /// lost connection the server reports them again, which changes nothing.
    func keepRejects(of problem: ServerProblem) async {
        guard case .compensated(let rejected, let version)? = problem.details else { return }
        let writes = rejected.updates.map { update in
            ServerRejection(
                className: update.className,
                key: update.key,
                reason: update.reason,
                errorCode: problem.code,
                version: version
            )
        }
        do throws(LocalRealmError) {
            _ = try await retryWhileBusy { () async throws(LocalRealmError) in
                try await store.keep(writes)
            }
        } catch {
            logger.error(
                "rejected write cannot be stored",
                metadata: ["code": "\(error.code)", "detail": "\(error.message)"]
            )
        }
    }
}
