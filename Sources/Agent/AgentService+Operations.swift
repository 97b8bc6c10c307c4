import Config
package import Control
import SyncClient

/// What the control API asks about single realms.
extension AgentService {
    package func wait(
        _ request: WaitRequest,
        for realm: String
    ) async throws(ControlError) -> SyncReport {
        let directions = request.directions ?? WaitRequest.Direction.allCases
        return try await supervisor(of: realm).wait(
            for: directions.map(TransferDirection.init),
            timeout: request.timeoutInSeconds.map { .seconds($0) }
        )
    }

    package func progress(
        _ request: ProgressRequest,
        of realm: String
    ) async throws(ControlError) -> AsyncStream<ProgressReport> {
        let mode: ProgressNotifier.Mode =
            switch request.mode {
            case .indefinite: .indefinite
            case .outstanding: .outstanding
            }
        let source = try await supervisor(of: realm).progress(.init(request.direction), mode)
        guard let source else { throw .notOpen(realm) }
        let (stream, continuation) = AsyncStream.makeStream(
            of: ProgressReport.self,
            bufferingPolicy: .bufferingNewest(16)
        )
        let pump = Task {
            for await progress in source {
                continuation.yield(
                    ProgressReport(
                        realm: realm,
                        direction: request.direction.rawValue,
                        transferredBytes: progress.transferred,
                        transferableBytes: progress.transferable,
                        estimate: progress.estimate
                    )
                )
            }
            continuation.finish()
        }
        continuation.onTermination = { _ in pump.cancel() }
        return stream
    }

    package func suspend(
        _ realm: String,
        _ request: SuspendRequest
    ) async throws(ControlError) {
        let supervisor = try await supervisor(of: realm)
        let until = request.seconds.map { supervisor.now() + Int64($0 * 1_000) }
        await supervisor.suspend(until: until)
    }

    package func resume(_ realm: String) async throws(ControlError) {
        try await supervisor(of: realm).resume()
    }

    package func reconnect() async {
        for supervisor in await running.supervisors { await supervisor.reconnect() }
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
}

extension TransferDirection {
    fileprivate init(_ direction: WaitRequest.Direction) {
        self =
            switch direction {
            case .upload: .upload
            case .download: .download
            }
    }
}

extension ControlError {
    static func notOpen(_ realm: String) -> ControlError {
        ControlError(
            code: "realm.not_open",
            message: "realm \"\(realm)\" is not open",
            remedy: "`realm-agent status` says why"
        )
    }

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
