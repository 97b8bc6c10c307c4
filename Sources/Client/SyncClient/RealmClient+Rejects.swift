import LocalRealm
import Logging
import SyncProtocol
import Versions

/// Writes that the server rejects and undoes (flexible sync, 11).
extension RealmClient {
    /// Reads the rows before the compensating write arrives and changes them.
    func readRows(_ problem: ServerProblem) async {
        guard case .compensated(let rejected, let version)? = problem.details else { return }
        let objects = rejected.updates.map { update in
            update.key.map { (className: update.className, key: $0) }
        }
        rowsBeforeCompensation[version] = await store.rows(of: objects)
    }

    /// The compensating write is integrated: stores the rejected writes in the file.
    func keepRejects(of problem: ServerProblem) async {
        guard case .compensated(let rejected, let version)? = problem.details else { return }
        let rows = rowsBeforeCompensation.removeValue(forKey: version) ?? []
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
                "rejected write cannot be stored",
                metadata: ["code": "\(error.code)", "detail": "\(error.message)"]
            )
        }
    }
}
