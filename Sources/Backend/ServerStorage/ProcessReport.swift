import FoundationEssentials
import PostgreSQL
import ServerCluster
package import ServerConfig

/// A process of a server on PostgreSQL, for operators.
package struct ProcessReport: Codable, Hashable, Sendable {
    package let id: String
    package let host: String
    package let pid: Int64
    /// The version of the program.
    package let program: String
    /// Milliseconds since 1970.
    package let startedAt: Int64
    /// Since the process was last heard of.
    package let secondsSinceSeen: Int64
    package let connections: Int64
    package let sessions: Int64
    /// The database's clock minus its own, in milliseconds.
    package let clockOffset: Int64

    /// Those of the last day that did not end in order are included. The longest running first.
    package static func all(
        _ location: PostgreSQLLocation,
        _ secrets: SecretReader
    ) throws -> [ProcessReport] {
        let connection = try Connection(
            Target(location, secrets),
            deadline: .after(.seconds(10))
        )
        let rows = try connection.run(
            """
            SELECT process_id::text, host, pid::int8, program, started_at,
                extract(epoch FROM now() - seen_at)::int8,
                (SELECT coalesce(sum((value->>0)::int8), 0)::int8 FROM jsonb_each(counts)),
                (SELECT coalesce(sum((value->>1)::int8), 0)::int8 FROM jsonb_each(counts)),
                clock_offset
            FROM process ORDER BY started_at, process_id
            """
        )
        return try (0..<rows.count).map { row in
            ProcessReport(
                id: try rows.string(row, 0),
                host: try rows.string(row, 1),
                pid: try rows.integer(row, 2),
                program: try rows.string(row, 3),
                startedAt: try rows.integer(row, 4),
                secondsSinceSeen: try rows.integer(row, 5),
                connections: try rows.integer(row, 6),
                sessions: try rows.integer(row, 7),
                clockOffset: try rows.integer(row, 8)
            )
        }
    }

    /// Whether it counts as alive.
    package var isAlive: Bool { secondsSinceSeen <= ProcessLimits.aliveSeconds }
}
