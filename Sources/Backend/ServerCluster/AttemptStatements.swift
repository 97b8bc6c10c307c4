import PostgreSQL
import ServerStore

/// Attempts that processes count together, by the database's clock: the rule of `AttemptLimiter` as one
/// statement (server on PostgreSQL, 6.5).
///
/// The column `full_at` is the time at which a bucket is full again, in milliseconds since 1970.
enum AttemptStatements {
    /// Nil if the attempt may be made, or the milliseconds until the next.
    static func take(_ connection: Connection, _ attempt: CountedAttempt) throws -> Int64? {
        let values: [Value] = [
            .bytes(attempt.key), .integer(attempt.refillInterval), .integer(Int64(attempt.burst)),
        ]
        let rows = try connection.pipeline([
            // In the second part "excluded.full_at - $2" is the present time. A clock that was set back
            // must not keep a bucket empty for longer than it takes to fill.
            Step(
                """
                INSERT INTO attempt AS a (key, full_at)
                SELECT $1, (extract(epoch FROM clock_timestamp()) * 1000)::int8 + $2::int8
                ON CONFLICT (key) DO UPDATE
                SET full_at = least(greatest(a.full_at, excluded.full_at - $2),
                    excluded.full_at + ($3::int8 - 1) * $2) + $2
                WHERE least(greatest(a.full_at, excluded.full_at - $2),
                    excluded.full_at + ($3 - 1) * $2) - (excluded.full_at - $2) <= ($3 - 1) * $2
                RETURNING true
                """,
                values
            ),
            Step(
                """
                SELECT least(full_at - (extract(epoch FROM clock_timestamp()) * 1000)::int8,
                    $3::int8 * $2::int8) - ($3 - 1) * $2
                FROM attempt WHERE key = $1
                """,
                values
            ),
        ])
        guard rows[0].count == 0, rows[1].count > 0 else { return nil }
        return max(1, try rows[1].integer(0, 0))
    }

    static func giveBack(_ connection: Connection, _ attempt: CountedAttempt) throws {
        try connection.run(
            "UPDATE attempt SET full_at = full_at - $2::int8 WHERE key = $1",
            [.bytes(attempt.key), .integer(attempt.refillInterval)]
        )
    }

    /// Removes buckets that are full, a portion at a time.
    static let sweeping = Step(
        """
        DELETE FROM attempt WHERE key = ANY (ARRAY(
            SELECT key FROM attempt
            WHERE full_at <= (extract(epoch FROM clock_timestamp()) * 1000)::int8
            LIMIT 10000))
        """
    )
}
