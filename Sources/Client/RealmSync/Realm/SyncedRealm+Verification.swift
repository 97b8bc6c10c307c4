import AppServices
import Changesets
import Digests
import LocalRealm
import SQLite
import SyncClient
import SyncProtocol
import Versions

/// Compares a realm with its server (local realm, "Comparing with the server").
extension SyncedRealm {
    /// Syncs, holds the state of the file, and compares digests of all objects with the server's. Nothing
    /// is changed. Programs and the session continue meanwhile.
    ///
    /// - Parameter timeout: maximum time for each sync; nil for no limit.
    package func verify(
        timeout: Duration?,
        report: @escaping @Sendable (VerificationStep) -> Void
    ) async throws(VerificationFailure) -> RealmVerification {
        var reason = "local writes do not end"
        for attempt in 0..<Self.attempts {
            if attempt > 0 { try? await context.time.sleep(.seconds(1)) }
            report(.syncing)
            let result = await sync(timeout: timeout)
            guard result.outcome == .done else { throw .sync(result) }
            let held = try await hold()
            do throws(VerificationFailure) {
                guard !held.state.hasPendingChanges else {
                    throw .busy("local writes do not end")
                }
                let verification = try await comparison(of: held, report).run()
                await held.close()
                return verification
            } catch {
                await held.close()
                guard case .busy(let text) = error else { throw error }
                reason = text
            }
        }
        throw .busy(reason)
    }

    private static let attempts = 5

    private func hold() async throws(VerificationFailure) -> HeldRealm {
        let executor = context.opener.environment.executor("comparison")
        do throws(LocalRealmError) {
            return try await HeldRealm.open(path: path, on: executor)
        } catch {
            throw VerificationFailure(error)
        }
    }

    private func comparison(
        of held: HeldRealm,
        _ report: @escaping @Sendable (VerificationStep) -> Void
    ) -> RealmComparison {
        let user = context.user
        return RealmComparison(
            held: held,
            partition: mode == .flexible || partition.isEmpty ? nil : partition,
            server: { (request) async throws(ComparisonFailure) in try await user.digests(request)
            },
            report: report
        )
    }
}

extension VerificationFailure {
    init(_ error: LocalRealmError) {
        self = .file(
            RealmError(.file, code: error.code, message: error.message, isFatal: false)
        )
    }
}
