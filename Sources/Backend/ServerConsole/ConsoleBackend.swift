import ConsolePages
import ServerHTTP
import ServerStore

/// Reads what the console shows, and does what its operator asks for: with the calls of the commands.
struct ConsoleBackend: Sendable {
    let client: AdminClient

    /// - Parameter chosen: the app to show in detail; without one, or with an unknown one, the first.
    func state(
        chosen: String?,
        usersAfter user: String?
    ) async throws(ConsoleFailure) -> ConsoleState {
        let health = try await get(ServerHealth.self, "health")
        let apps = try await get([AppReport].self, "apps").map { report in
            ConsoleState.App(
                id: report.id,
                origin: report.origin,
                syncState: report.syncState.rawValue
            )
        }
        let metrics = try await call(.get, "metrics")
        let app = apps.first { $0.id == chosen } ?? apps.first
        var detail: ConsoleState.Detail?
        if let app { detail = try await self.detail(of: app, usersAfter: user) }
        return ConsoleState(
            obstacle: health.reason,
            apps: apps,
            samples: MetricSamples(String(decoding: metrics, as: UTF8.self)),
            detail: detail
        )
    }

    /// Returns the server's refusal; nil if it was done.
    func perform(_ action: ConsoleAction) async -> String? {
        switch action.call {
        case .failure(let unconfirmed):
            return "\(unconfirmed)"
        case .success(let call):
            let method: AdminClient.Method =
                switch call.method {
                case .post: .post
                case .put: .put
                }
            do throws(ConsoleFailure) {
                _ = try await self.call(method, call.path, body: call.body)
                return nil
            } catch {
                return error.reason
            }
        }
    }

    private func detail(
        of app: ConsoleState.App,
        usersAfter user: String?
    ) async throws(ConsoleFailure) -> ConsoleState.Detail {
        let path = "apps/\(app.id)"
        let page = user.map { "?after=\($0)" } ?? ""
        let sync = try await get(AppSyncReport.self, "\(path)/sync")
        let realms = try await get([RealmReport].self, "\(path)/realms")
        let users = try await get([AppUserReport].self, "\(path)/users\(page)")
        let pending = try await get([PendingReport].self, "\(path)/pending")
        return ConsoleState.Detail(
            app: app,
            connections: sync.connections,
            sessions: sync.sessions,
            realms: realms.map { realm in
                ConsoleState.Realm(
                    partition: realm.partition,
                    version: realm.currentVersion,
                    historyBytes: realm.historyBytes
                )
            },
            users: users.map { user in
                ConsoleState.User(
                    id: user.id,
                    isDisabled: user.isDisabled,
                    identities: user.identities.map { identity in
                        identity.email.map { "\(identity.provider) \($0)" } ?? identity.provider
                    }
                )
            },
            pending: pending.map { ConsoleState.Pending(email: $0.email, purpose: $0.purpose) }
        )
    }

    private func get<Report: Decodable>(
        _ type: Report.Type,
        _ path: String
    ) async throws(ConsoleFailure) -> Report {
        let response = try await call(.get, path)
        do {
            return try AdminJSON.decode(type, from: response)
        } catch {
            throw ConsoleFailure(reason: "the server is of another version")
        }
    }

    private func call(
        _ method: AdminClient.Method,
        _ path: String,
        body: [String: String]? = nil
    ) async throws(ConsoleFailure) -> [UInt8] {
        let bytes: [UInt8]
        do {
            bytes = try body.map { try AdminJSON.encode($0) } ?? []
        } catch {
            throw ConsoleFailure(reason: "the call cannot be encoded")
        }
        do throws(AdminClient.Failure) {
            return try await client.call(method, path, body: bytes)
        } catch {
            throw ConsoleFailure(reason: "\(error)")
        }
    }
}

/// Whether a server can serve clients, as the admin API reports it.
package struct ServerHealth: Codable, Sendable {
    /// Nil if it can.
    package let reason: String?

    package var isReady: Bool { reason == nil }
}

/// The reason for a call that failed.
struct ConsoleFailure: Error, Hashable, Sendable {
    let reason: String
}
