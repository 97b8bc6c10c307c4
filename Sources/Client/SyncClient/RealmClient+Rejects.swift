import LocalRealm
import Logging
import SyncProtocol
import Versions

/// Writes that the server refuses and undoes (flexible sync, 11).
extension RealmClient {
    /// The undoing is on its way: what the rows are now cannot be read afterwards.
    func readRows(_ problem: ServerProblem) async {
        guard case .compensated(let rejected, let version)? = problem.details else { return }
        let objects = rejected.updates.map { update in
            update.key.map { (className: update.className, key: $0) }
        }
        rowsBeforeUndoing[version] = await store.rows(of: objects)
    }

    /// The undoing can be seen: what was undone is kept in the file.
    func keepRejects(of problem: ServerProblem) async {
        guard case .compensated(let rejected, let version)? = problem.details else { return }
        let rows = rowsBeforeUndoing.removeValue(forKey: version) ?? []
        let writes = rejected.updates.enumerated().map { index, update in
            ServerRejection(
                className: update.className,
                key: update.key,
                reason: update.reason,
                errorCode: problem.code,
                version: version,
                rowBefore: index < rows.count ? rows[index] : nil
            )
        }
        do throws(LocalRealmError) {
            _ = try await retryWhileBusy { () async throws(LocalRealmError) in
                try await store.keep(writes)
            }
        } catch {
            logger.error(
                "a refused write cannot be kept",
                metadata: ["code": "\(error.code)", "detail": "\(error.message)"]
            )
        }
    }
}
