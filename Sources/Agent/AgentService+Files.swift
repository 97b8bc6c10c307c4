import AppServices
import Changesets
import Config
package import Control
import LocalRealm
import Platform
import SQLite
import Versions

/// What the control API asks about the files of realms.
extension AgentService {
    package func copy(
        _ realm: String,
        _ request: CopyRequest
    ) async throws(ControlError) -> CopyReport {
        let supervisor = try await supervisor(of: realm)
        let sessions = await running.sessions
        let order = CopyOrder(
            request: request,
            realm: supervisor.configuration,
            users: await running.configuration.users,
            userID: { try? await sessions[$0.name]?.cachedAccount()?.userID }
        )
        let copy = RealmCopy(try await order.form(), now: supervisor.now())
        do throws(LocalRealmError) {
            let report = try await copy.makeOnThread(
                from: supervisor.configuration.path,
                to: request.path
            )
            return CopyReport(report, source: realm, path: request.path)
        } catch {
            throw ControlError(error)
        }
    }

    package func delete(
        _ realm: String,
        _ request: DeleteRequest
    ) async throws(ControlError) -> DeleteReport {
        let supervisor = try await supervisor(of: realm)
        do throws(RealmSupervisor.DeletionFailure) {
            let files = try await supervisor.delete(force: request.force ?? false)
            return DeleteReport(realm: realm, files: files)
        } catch {
            throw ControlError(error, realm: realm)
        }
    }

    package func rejects(
        of realm: String,
        limit: Int
    ) async throws(ControlError) -> RejectsReport {
        let path = try await supervisor(of: realm).configuration.path
        let executor = DatabaseExecutor(label: "rejects")
        let result = await executor.perform { () -> Result<[RejectedWrite], LocalRealmError> in
            do throws(LocalRealmError) {
                return .success(try RejectedWrite.read(path: path, limit: limit))
            } catch {
                return .failure(error)
            }
        }
        switch result {
        case .success(let writes):
            return RejectsReport(realm: realm, rejects: writes.map(RejectsReport.Reject.init))
        case .failure(let error):
            throw ControlError(error)
        }
    }

    package func readiness() async -> ReadinessReport {
        var waiting: [ReadinessReport.Waiting] = []
        for supervisor in await running.supervisors where await !supervisor.isReady {
            let status = await supervisor.status()
            waiting.append(
                .init(realm: status.name, state: status.state, cause: status.cause)
            )
        }
        return ReadinessReport(waiting: waiting)
    }
}

extension RejectsReport.Reject {
    fileprivate init(_ write: RejectedWrite) {
        let at = WallTime(millisecondsSince1970: write.at).description
        let className = write.className.description
        switch write.origin {
        case .capture(let property, let value):
            self.init(
                at: at,
                by: .local,
                className: className,
                key: write.key,
                property: property?.description,
                reason: write.reason,
                value: value
            )
        case .server(let code, let version, let row):
            self.init(
                at: at,
                by: .server,
                className: className,
                key: write.key,
                reason: write.reason,
                errorCode: code,
                serverVersion: version?.rawValue,
                rowBefore: row
            )
        }
    }
}

extension ControlError {
    init(_ failure: RealmSupervisor.DeletionFailure, realm: String) {
        switch failure {
        case .pendingUploads:
            self.init(
                code: "realm.pending_uploads",
                message: "realm \"\(realm)\" holds writes that the server does not have",
                remedy:
                    "wait for them with `realm-agent wait \(realm) --for upload`, or add --force"
            )
        case .notOpen: self = .notOpen(realm)
        case .files(let reason):
            self.init(code: "realm.io_error", message: "cannot be deleted: \(reason)")
        }
    }
}
