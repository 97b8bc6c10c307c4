import ServerHTTP
import ServerMigration
import ServerStore

/// The server beside which a command writes to its store.
struct RunningServer: Sendable {
    let client: AdminClient
    let app: String

    /// Whether it runs and serves the app.
    var serves: Bool {
        get async { (try? await client.call(.get, "apps/\(app)/sync")) != nil }
    }

    /// Tells it of growth. Between two transactions of the command it makes its own writes.
    ///
    /// Throws once it does not respond any more: another one may then use the store.
    func note(_ files: Set<ServerFileID>) async throws {
        let report = try AdminJSON.encode(GrowthReport(files: files.map(\.rawValue)))
        do throws(AdminClient.Failure) {
            _ = try await client.call(.post, "apps/\(app)/sync/growth", body: report)
        } catch {
            throw MigrationFailure(
                "store.locked",
                "the running server does not respond any more: \(error)",
                remedy: "run the command again",
                exitStatus: 3
            )
        }
    }
}
