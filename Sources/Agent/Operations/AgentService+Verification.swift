import Changesets
package import Control
import Digests
import RealmSync

/// The comparison of a realm with its server.
extension AgentService {
    package func verify(
        _ realm: String,
        _ request: VerifyRequest
    ) async throws(ControlError) -> AsyncStream<VerificationLine> {
        let synced = try await self.realm(realm).realm
        let timeout = request.timeoutInSeconds.map { Duration.seconds($0) }
        // The last line must not be dropped, so there is room for it behind the latest steps.
        let (stream, continuation) = AsyncStream.makeStream(
            of: VerificationLine.self,
            bufferingPolicy: .bufferingNewest(256)
        )
        let work = Task {
            do throws(VerificationFailure) {
                let verification = try await synced.verify(timeout: timeout) { step in
                    continuation.yield(VerificationLine(step))
                }
                let report = VerificationReport(realm, verification)
                continuation.yield(VerificationLine(result: report))
            } catch {
                continuation.yield(VerificationLine(error, realm: realm))
            }
            continuation.finish()
        }
        continuation.onTermination = { _ in work.cancel() }
        return stream
    }
}

extension VerificationLine {
    fileprivate init(_ step: VerificationStep) {
        switch step {
        case .syncing: self.init(step: .syncing)
        case .reading(let name, let objects):
            self.init(step: .reading, className: name.description, objects: objects)
        case .askingServer: self.init(step: .askingServer)
        case .listingDifferences: self.init(step: .listingDifferences)
        }
    }

    fileprivate init(_ failure: VerificationFailure, realm: String) {
        switch failure {
        case .sync(let result):
            let report = SyncReport(realm: realm, result)
            self.init(
                error: ControlError(
                    code: "verify.not_synced",
                    message: "\(realm) is not in sync: \(report.detail ?? report.outcome.rawValue)",
                    remedy: "run `realm-agent status`; verify again when the realm is open"
                ),
                outcome: report.outcome
            )
        case .file(let error):
            self.init(error: ControlError(code: error.code, message: error.message))
        case .unsupported:
            self.init(
                error: ControlError(
                    code: "verify.unsupported",
                    message: "the server of \(realm) has no comparison",
                    remedy: "only realm-server has it, from the version of this agent on"
                )
            )
        case .busy(let reason):
            self.init(
                error: ControlError(
                    code: "verify.busy",
                    message: "\(realm) was not compared: \(reason)",
                    remedy: "verify again when fewer programs write"
                )
            )
        case .refused(let reason):
            self.init(
                error: ControlError(
                    code: "verify.refused",
                    message: "the server refused to compare \(realm): \(reason)",
                    remedy: "run `realm-agent sync \(realm)`, then verify again"
                )
            )
        }
    }
}

extension VerificationReport {
    fileprivate init(_ realm: String, _ verification: RealmVerification) {
        self.init(
            realm: realm,
            equal: verification.isEqual,
            serverVersion: verification.serverVersion,
            classes: verification.classes.map {
                ClassReport(name: $0.name.description, objects: $0.objects, equal: $0.isEqual)
            },
            differences: verification.differences.map { difference in
                Difference(
                    className: difference.className.description,
                    key: difference.key.map(\.text),
                    kind: difference.kind.rawValue,
                    properties: difference.properties.map(\.description)
                )
            },
            changedObjects: verification.changedObjects,
            truncated: verification.isTruncated,
            schemaDifferences: verification.schemaDifferences
        )
    }
}
