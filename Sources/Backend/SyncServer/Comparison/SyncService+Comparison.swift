package import Digests
package import ServerStore

extension SyncService {
    /// Digests of the objects that a client file has, in the present state of the store. Writers do not
    /// wait for it. Only one comparison runs at a time.
    ///
    /// Throws `ComparisonRefusal`, `AccessUndecided` and `StoreError`.
    package func digests(
        _ request: DigestRequest,
        for user: ConnectedUser
    ) async throws -> DigestResponse {
        guard let app = apps.syncApp(user.app), app.syncState == .enabled else {
            throw ComparisonRefusal.paused
        }
        guard comparisons.begin() else { throw ComparisonRefusal.busy }
        defer { comparisons.end() }
        return try await engine.digests(request, for: user.id, of: app, comparisons.limits)
    }
}

extension SyncEngine {
    func digests(
        _ request: DigestRequest,
        for user: UserID,
        of app: SyncApp,
        _ limits: ComparisonLimits
    ) async throws -> DigestResponse {
        let opening = try await ComparisonOpening(
            request: request,
            user: user,
            app: app,
            limits: limits
        ).decidingAccess(self)
        return try await store.holdingState { held in
            switch try await held.read({ try opening.run($0) }) {
            case .answered(let response): return response
            case .scan(var scan):
                while !scan.isComplete {
                    try Task.checkCancellation()
                    scan = try await held.read { [scan] snapshot in
                        var scan = scan
                        try scan.advance(from: snapshot)
                        return scan
                    }
                }
                return scan.response
            }
        }
    }
}
