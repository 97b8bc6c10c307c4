import Config
package import Control
import Coordination
import Platform
import RealmSync
import Scheduling
import SyncClient
import Versions

/// Operations of the control API on single realms.
extension AgentService {
    package func wait(
        _ request: WaitRequest,
        for realm: String
    ) async throws(ControlError) -> SyncReport {
        let configured = try await self.realm(realm)
        let (synced, user) = (configured.realm, configured.configuration.user.name)
        let time = synced.context.time
        let timeout = request.timeoutInSeconds.map { Duration.seconds($0) }
        let start = time.uptime()
        if request.untilOpen ?? false {
            let result = await synced.waitUntilOpen(timeout: timeout)
            guard result.outcome == .done, request.directions?.isEmpty == false else {
                return SyncReport(realm: realm, user: user, result)
            }
        }
        let directions = request.directions ?? WaitRequest.Direction.allCases
        let result = await synced.wait(
            for: directions.map(TransferDirection.init),
            timeout: timeout.map { max(.zero, $0 - (time.uptime() - start)) }
        )
        return SyncReport(realm: realm, user: user, result)
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
        let source = try await self.realm(realm).realm.progress(.init(request.direction), mode)
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
        let synced = try await self.realm(realm).realm
        if let text = request.until {
            guard let end = WallTime(iso8601: text), request.seconds == nil else {
                throw .malformed(
                    "\"until\" is an instant such as 2026-11-20T22:30:00Z, without seconds"
                )
            }
            await synced.suspend(until: end.millisecondsSince1970)
            return
        }
        let until = request.seconds.map { synced.context.now().adding(clamping: Int64($0 * 1_000)) }
        await synced.suspend(until: until)
    }

    package func resume(_ realm: String) async throws(ControlError) {
        try await self.realm(realm).realm.resume()
    }

    package func reconnect() async {
        for realm in await running.realms {
            await realm.realm.reconnect()
            // Windows may have opened or closed meanwhile.
            realm.realm.scheduleAttention.raise()
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
            remedy: "run `realm-agent status`"
        )
    }
}
