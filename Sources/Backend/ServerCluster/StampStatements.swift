import PostgreSQL
import ServerStore
import Versions

/// The time at which connected clients were last seen, which each process records for its own
/// (server on PostgreSQL, 6.5).
enum StampStatements {
    /// Rows that one statement locks.
    private static let portion = 500

    /// - Parameter now: milliseconds since 1970.
    static func stamp(
        _ connection: Connection,
        _ process: ProcessRecord,
        _ clients: some Collection<ClientFileID>,
        at now: Int64
    ) throws {
        // Equal orders of locks, in all processes.
        let keys = clients.map { client in
            (file: client.file.rawValue, ident: Int64(bitPattern: client.ident.rawValue))
        }
        var rest = keys.sorted { ($0.file, $0.ident) < ($1.file, $1.ident) }[...]
        while !rest.isEmpty {
            let portion = rest.prefix(portion)
            rest = rest.dropFirst(portion.count)
            try connection.run(
                """
                UPDATE client_file c SET last_seen_at = greatest(c.last_seen_at, $3)
                FROM unnest($1::int8[], $2::int8[]) u(file, ident)
                WHERE c.file_id = u.file AND c.ident = u.ident
                """,
                [
                    .integers(portion.map(\.file)), .integers(portion.map(\.ident)),
                    .integer(now),
                ]
            )
        }
        try connection.pipeline([
            Step(
                "UPDATE process SET sessions_stamped_at = now() WHERE process_id = $1::text::uuid",
                [.string(process.id)]
            ),
            AttemptStatements.sweeping,
            // Processes that ended without a word.
            Step("DELETE FROM process WHERE seen_at < now() - interval '1 day'"),
        ])
    }

    /// Whether all processes that are alive have recorded their clients lately, and have the same
    /// configuration of an app.
    static func agree(
        _ connection: Connection,
        on app: AppID,
        within seconds: Int64
    ) throws -> Bool {
        let rows = try connection.run(
            """
            SELECT count(*) > 0
                AND bool_and(coalesce(
                    sessions_stamped_at > now() - make_interval(secs => $1::int8), false))
                AND count(DISTINCT coalesce(fingerprints->>$2, '')) = 1
            FROM process WHERE seen_at > now() - make_interval(secs => $3::int8)
            """,
            [.integer(seconds), .string(app.rawValue), .integer(ProcessLimits.aliveSeconds)]
        )
        return try rows.bool(0, 0)
    }
}
