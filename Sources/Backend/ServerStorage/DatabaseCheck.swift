import PostgreSQL
package import ServerConfig

/// Connects to a configured database, and tells what it lacks; changes nothing.
package enum DatabaseCheck {
    /// - Parameter now: this machine's clock, in milliseconds since 1970.
    package static func run(
        _ location: PostgreSQLLocation,
        _ secrets: SecretReader,
        now: () -> Int64
    ) -> [DatabaseFinding] {
        do {
            let connection = try Connection(
                Target(location, secrets),
                deadline: .after(.seconds(10))
            )
            let facts = try DatabaseFacts.read(connection, schema: location.schema, now: now)
            return [DatabaseFinding(.good, "reach", "\(location)")] + facts.findings(location)
        } catch {
            let remedy = (error as? PostgreSQLError).map { advice(on: $0) }
            return [DatabaseFinding(.problem, "reach", "\(location): \(error)", remedy: remedy)]
        }
    }

    private static func advice(on error: PostgreSQLError) -> String {
        switch (error.cause, error.sqlState) {
        case (.timedOut, _): "see whether a firewall drops packets to the hosts"
        case (.unavailable, _): "correct the file that the message names"
        case (_, "28P01"?), (_, "28000"?): "correct user, password, or the server's pg_hba.conf"
        case (_, "3D000"?): "create the database, or correct storage.postgresql.database"
        case (_, "53300"?): "raise max_connections, or end other programs' connections"
        case (_, "42501"?): "grant the role what the message names"
        default: "see whether the server runs, and correct hosts, tls or ca"
        }
    }
}
