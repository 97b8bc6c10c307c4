import AppServices
import Changesets
import Config
package import Control
import Coordination
import LocalRealm
import Platform
import RealmSync
import Scheduling
import Versions

/// Operations of the control API on realm files.
extension AgentService {
    package func copy(
        _ realm: String,
        _ request: CopyRequest
    ) async throws(ControlError) -> CopyReport {
        try await copy(realm, request) { _ in }
    }

    package nonisolated func copyWithProgress(
        _ realm: String,
        _ request: CopyRequest
    ) -> AsyncStream<CopyLine> {
        // The last line must not be dropped, so there is room for it behind the latest progress.
        let (stream, continuation) = AsyncStream.makeStream(
            of: CopyLine.self,
            bufferingPolicy: .bufferingNewest(16)
        )
        // A copy is finished even if its reader has gone.
        Task {
            do throws(ControlError) {
                let report = try await copy(realm, request) { progress in
                    continuation.yield(CopyLine(progress: progress))
                }
                continuation.yield(CopyLine(result: report))
            } catch {
                continuation.yield(CopyLine(error: error))
            }
            continuation.finish()
        }
        return stream
    }

    private func copy(
        _ realm: String,
        _ request: CopyRequest,
        _ note: @escaping @Sendable (CopyProgress) -> Void
    ) async throws(ControlError) -> CopyReport {
        let source = try await self.realm(realm)
        let sessions = await running.sessions
        let order = CopyRequestResolver(
            request: request,
            realm: source.configuration,
            users: await running.configuration.users,
            userID: { try? await sessions[$0.name]?.cachedAccount()?.userID }
        )
        return try await order.copy(
            realm,
            at: source.realm.path,
            now: source.realm.context.now(),
            note: note
        )
    }

    package func delete(
        _ realm: String,
        _ request: DeleteRequest
    ) async throws(ControlError) -> DeleteReport {
        let synced = try await self.realm(realm).realm
        do throws(SyncedRealm.DeletionFailure) {
            let files = try await synced.delete(force: request.force ?? false)
            return DeleteReport(realm: realm, files: files)
        } catch {
            throw ControlError(error, realm: realm)
        }
    }

    package func rejects(
        of realm: String,
        limit: Int
    ) async throws(ControlError) -> RejectsReport {
        let path = try await self.realm(realm).realm.path
        do throws(LocalRealmError) {
            let writes = try await BlockingCall.run(label: "rejects") {
                () throws(LocalRealmError) in try RejectedWrite.read(path: path, limit: limit)
            }
            return RejectsReport(realm: realm, rejects: Self.fitting(writes))
        } catch {
            throw ControlError(error)
        }
    }

    package func retryReject(
        _ id: Int64,
        of realm: String
    ) async throws(ControlError) -> RetryReport {
        let path = try await self.realm(realm).realm.path
        let outcome: RejectedWriteRetry.Outcome
        do throws(LocalRealmError) {
            outcome = try await BlockingCall.run(label: "retry") { () throws(LocalRealmError) in
                try RejectedWriteRetry(id, in: path).run()
            }
        } catch {
            throw ControlError(error)
        }
        switch outcome {
        case .written(let name):
            return RetryReport(
                realm: realm,
                id: id,
                className: name.description,
                outcome: .written
            )
        case .deleted(let name):
            return RetryReport(
                realm: realm,
                id: id,
                className: name.description,
                outcome: .deleted
            )
        case .unknown:
            throw ControlError(
                code: "reject.unknown",
                message: "\(realm) has no write with id \(id) that the server rejected",
                remedy: "run `realm-agent rejects \(realm)`"
            )
        case .refused(let reason):
            throw ControlError(
                code: "reject.refused",
                message: "the object was not written: \(reason)",
                remedy: "write it with SQL, corrected"
            )
        }
    }

    package func readiness() async -> ReadinessReport {
        var waiting: [ReadinessReport.Waiting] = []
        let stalled = Set(stalled.names)
        for realm in await running.realms {
            let isStalled = stalled.contains(realm.name)
            guard await !realm.realm.isReady || isStalled else { continue }
            let status = await realm.status()
            waiting.append(
                .init(
                    realm: status.name,
                    state: status.state,
                    cause: isStalled ? "stalled" : status.cause
                )
            )
        }
        return ReadinessReport(waiting: waiting)
    }
}

extension AgentService {
    /// As many of the newest writes as the response to a request may hold.
    static func fitting(_ writes: [RejectedWrite]) -> [RejectsReport.Reject] {
        var rest = 8 << 20
        return writes.map(RejectsReport.Reject.init).prefix { reject in
            rest -= reject.sizeInBytes
            return rest > 0
        }.map { $0 }
    }
}

extension RejectsReport.Reject {
    /// Roughly, in the response.
    fileprivate var sizeInBytes: Int {
        200 + key.utf8.count + reason.utf8.count + (value?.utf8.count ?? 0)
            + (rowBefore?.utf8.count ?? 0)
    }

    /// Values and keys above this are cut, and rows left out: the realm file has all of them.
    private static let longestText = 64 << 10
    private static let largestRow = 1 << 20

    private static func shortened(_ text: String) -> String {
        guard text.utf8.count > longestText else { return text }
        return "\(text.prefix(1_024))… (\(text.utf8.count) bytes)"
    }

    fileprivate init(_ write: RejectedWrite) {
        let at = WallTime(millisecondsSince1970: write.at).description
        let className = write.className.description
        switch write.origin {
        case .capture(let property, let value):
            self.init(
                at: at,
                by: .local,
                className: className,
                key: Self.shortened(write.key),
                property: property?.description,
                reason: write.reason,
                value: Self.shortened(value)
            )
        case .server(let code, let version, let row):
            self.init(
                id: write.id,
                at: at,
                by: .server,
                className: className,
                key: Self.shortened(write.key),
                reason: write.reason,
                errorCode: code,
                serverVersion: version?.rawValue,
                rowBefore: row.flatMap { $0.utf8.count > Self.largestRow ? nil : $0 }
            )
        }
    }
}

extension ControlError {
    init(_ failure: SyncedRealm.DeletionFailure, realm: String) {
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
