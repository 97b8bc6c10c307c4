import FoundationEssentials
import PostgreSQL
import PostgreSQLServerStore
import ServerStore
import Versions

/// The statements of a process's coordination connection (server on PostgreSQL, 6).
///
/// Keys that come as arrays are looked up one by one: the planner has no choice (3).
enum ClusterStatements {
    // MARK: Each poll

    struct Poll {
        /// Moves with each change by an administrator.
        var controlEpoch: Int64
        /// Milliseconds since 1970, by the database's clock.
        var databaseTime: Int64
        var versions: [ServerFileID: ServerVersion]
        /// Those of the other processes, together.
        var counts: [AppID: ConnectionCounts]
        /// Of each other process.
        var fingerprints: [[AppID: String]]
    }

    /// Shows that the process is alive, and reads what may have changed: one round trip.
    static func poll(
        _ connection: Connection,
        _ process: ProcessRecord,
        clockOffset: Int64,
        _ presence: ConnectionPresence
    ) throws -> Poll {
        let files = Set(presence.clients.keys.map(\.file.rawValue))
        let rows = try connection.pipeline([
            Step(
                """
                INSERT INTO process (process_id, host, pid, program, layout, started_at, seen_at,
                    fingerprints, counts, clock_offset)
                VALUES ($1::text::uuid, $2, $3::int8::int, $4, $9::int8::int, $5::int8, now(), $6,
                    $7, $8)
                ON CONFLICT (process_id) DO UPDATE SET seen_at = excluded.seen_at,
                    fingerprints = excluded.fingerprints, counts = excluded.counts,
                    clock_offset = excluded.clock_offset
                """,
                [
                    .string(process.id), .string(process.host), .integer(Int64(process.pid)),
                    .string(process.program), .integer(process.startedAt),
                    .document(try FingerprintsText.json(presence.fingerprints)),
                    .document(try CountsText.json(presence.counts)), .integer(clockOffset),
                    .integer(PostgreSQLLayout.version),
                ]
            ),
            Step(
                """
                SELECT control_epoch, (extract(epoch FROM clock_timestamp()) * 1000)::int8
                FROM layout
                """
            ),
            Step(
                """
                SELECT f.file_id, f.current_version FROM unnest($1::int8[]) u(id)
                CROSS JOIN LATERAL (
                    SELECT file_id, current_version FROM server_file WHERE file_id = u.id OFFSET 0
                ) f
                """,
                [.integers(files.map { $0 })]
            ),
            Step(
                """
                SELECT counts, fingerprints FROM process
                WHERE process_id <> $1::text::uuid
                    AND seen_at > now() - make_interval(secs => $2::int8)
                """,
                [.string(process.id), .integer(ProcessLimits.aliveSeconds)]
            ),
        ])
        var poll = Poll(
            controlEpoch: try rows[1].integer(0, 0),
            databaseTime: try rows[1].integer(0, 1),
            versions: [:],
            counts: [:],
            fingerprints: []
        )
        for row in 0..<rows[2].count {
            let version = UInt64(clamping: try rows[2].integer(row, 1))
            poll.versions[ServerFileID(try rows[2].integer(row, 0))] = ServerVersion(version)
        }
        for row in 0..<rows[3].count {
            poll.counts.merge(CountsText.counts(try rows[3].bytes(row, 0)), uniquingKeysWith: +)
            poll.fingerprints.append(FingerprintsText.fingerprints(try rows[3].bytes(row, 1)))
        }
        return poll
    }

    /// The process ends.
    static func leave(_ connection: Connection, _ process: ProcessRecord) throws {
        try connection.run(
            "DELETE FROM process WHERE process_id = $1::text::uuid",
            [.string(process.id)]
        )
    }

    // MARK: After a change by an administrator

    static func records(
        _ connection: Connection,
        for presence: ConnectionPresence
    ) throws -> ControlRecords {
        let users = Array(presence.users)
        let sessions = Array(presence.loginSessions)
        let clients = Array(presence.clients.keys)
        let rows = try connection.pipeline([
            Step("SELECT app_id, sync_state, md5(app::text) FROM app"),
            Step(
                """
                SELECT u.place, a.is_disabled
                FROM unnest($1::text[], $2::text[]) WITH ORDINALITY u(app, id, place)
                CROSS JOIN LATERAL (
                    SELECT is_disabled FROM app_user
                    WHERE app_id = u.app AND user_id = u.id OFFSET 0
                ) a
                """,
                [.strings(users.map(\.app.rawValue)), .strings(users.map(\.id.rawValue))]
            ),
            Step(
                """
                SELECT u.place FROM unnest($1::text[], $2::bytea[]) WITH ORDINALITY
                    u(app, digest, place)
                CROSS JOIN LATERAL (
                    SELECT is_revoked FROM login_session
                    WHERE app_id = u.app AND digest = u.digest OFFSET 0
                ) s
                WHERE NOT s.is_revoked
                """,
                [
                    .strings(sessions.map(\.app.rawValue)),
                    .byteStrings(sessions.map { $0.id.bytes }),
                ]
            ),
            Step(
                """
                SELECT u.place, c.session_epoch
                FROM unnest($1::int8[], $2::int8[]) WITH ORDINALITY u(file, ident, place)
                CROSS JOIN LATERAL (
                    SELECT session_epoch FROM client_file
                    WHERE file_id = u.file AND ident = u.ident OFFSET 0
                ) c
                """,
                [
                    .integers(clients.map(\.file.rawValue)),
                    .integers(clients.map { Int64(bitPattern: $0.ident.rawValue) }),
                ]
            ),
        ])
        var records = ControlRecords()
        for row in 0..<rows[0].count {
            guard let app = AppID(try rows[0].string(row, 0)) else { continue }
            let state = try rows[0].string(row, 1)
            records.apps[app] = ControlRecords.App(
                isEnabled: state == SyncState.enabled.rawValue,
                digest: try rows[0].string(row, 2)
            )
        }
        for row in 0..<rows[1].count {
            let user = try element(users, rows[1].integer(row, 0))
            if try rows[1].bool(row, 1) {
                records.disabledUsers.insert(user)
            } else {
                records.users.insert(user)
            }
        }
        for row in 0..<rows[2].count {
            records.loginSessions.insert(try element(sessions, rows[2].integer(row, 0)))
        }
        for row in 0..<rows[3].count {
            let epoch = UInt64(clamping: try rows[3].integer(row, 1))
            records.clients[try element(clients, rows[3].integer(row, 0))] = epoch
        }
        return records
    }

    /// - Parameter place: from 1, as the server counts.
    private static func element<Element>(_ all: [Element], _ place: Int64) throws -> Element {
        guard let index = Int(exactly: place).map({ $0 &- 1 }), all.indices.contains(index) else {
            throw PostgreSQLError.malformed("a row has no key")
        }
        return all[index]
    }
}

/// The counts of a process, as its row has them: connections and sessions of each app.
enum CountsText {
    static func json(_ counts: [AppID: ConnectionCounts]) throws -> [UInt8] {
        var texts: [String: [Int]] = [:]
        for (app, count) in counts { texts[app.rawValue] = [count.connections, count.sessions] }
        return Array(try JSONEncoder().encode(texts))
    }

    /// A process of another version may write others: what cannot be read counts nothing.
    static func counts(_ json: [UInt8]) -> [AppID: ConnectionCounts] {
        let texts = try? JSONDecoder().decode([String: [Int]].self, from: Data(json))
        var counts: [AppID: ConnectionCounts] = [:]
        for (name, numbers) in texts ?? [:] {
            guard let app = AppID(name), numbers.count == 2,
                numbers.allSatisfy({ 0..<1 << 40 ~= $0 })
            else { continue }
            counts[app] = ConnectionCounts(connections: numbers[0], sessions: numbers[1])
        }
        return counts
    }
}

/// The fingerprints of a process's configuration of each app, as its row has them.
enum FingerprintsText {
    static func json(_ fingerprints: [AppID: String]) throws -> [UInt8] {
        var texts: [String: String] = [:]
        for (app, fingerprint) in fingerprints { texts[app.rawValue] = fingerprint }
        return Array(try JSONEncoder().encode(texts))
    }

    /// Without those that cannot be read.
    static func fingerprints(_ json: [UInt8]) -> [AppID: String] {
        let texts = try? JSONDecoder().decode([String: String].self, from: Data(json))
        var fingerprints: [AppID: String] = [:]
        for (name, text) in texts ?? [:] {
            if let app = AppID(name) { fingerprints[app] = text }
        }
        return fingerprints
    }
}
