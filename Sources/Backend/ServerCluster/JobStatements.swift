import PostgreSQL
import ServerStore

/// Jobs that one process of several does: a lock of the session while it does, and the time after
/// (server on PostgreSQL, 6.5).
///
/// The lock ends with its connection. Then another process may begin while this one still works: jobs may
/// be done twice.
enum JobStatements {
    /// Whether the job is this process's now.
    static func begin(
        _ connection: Connection,
        _ job: Job,
        every interval: Duration
    ) throws -> Bool {
        let lock = try connection.run(
            """
            SELECT pg_try_advisory_lock(($1::int8 << 56)
                | ('x' || left(md5(store_id::text), 14))::bit(56)::int8) FROM layout
            """,
            [.integer(number(of: job))]
        )
        guard try lock.bool(0, 0) else { return false }
        let done = try connection.run(
            """
            SELECT EXISTS (
                SELECT FROM job WHERE name = $1 AND finished_at > now() - make_interval(secs => $2::int8)
            )
            """,
            [.string(job.rawValue), .integer(interval.components.seconds)]
        )
        guard try done.bool(0, 0) else { return true }
        try release(connection, job)
        return false
    }

    static func finish(_ connection: Connection, _ job: Job, _ process: ProcessRecord) throws {
        try connection.run(
            """
            INSERT INTO job (name, finished_at, process_id) VALUES ($1, now(), $2::text::uuid)
            ON CONFLICT (name) DO UPDATE
                SET finished_at = excluded.finished_at, process_id = excluded.process_id
            """,
            [.string(job.rawValue), .string(process.id)]
        )
        try release(connection, job)
    }

    private static func release(_ connection: Connection, _ job: Job) throws {
        try connection.run(
            """
            SELECT pg_advisory_unlock(($1::int8 << 56)
                | ('x' || left(md5(store_id::text), 14))::bit(56)::int8) FROM layout
            """,
            [.integer(number(of: job))]
        )
    }

    /// Never reused: it is part of the lock's key. Other locks of the store begin with 'R' (0x52).
    private static func number(of job: Job) -> Int64 {
        switch job {
        case .trimming: 1
        case .sweeping: 2
        case .expiry: 3
        case .views: 4
        case .remains: 5
        }
    }
}
