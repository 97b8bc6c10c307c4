package import PostgreSQL
package import ServerStore
import Versions

extension SessionGuard {
    /// Reads what the guard compares, for the first pipeline of a transaction: three rows by their keys.
    package var step: Step {
        Step(
            """
            SELECT c.client_version, c.session_epoch, f.current_version, f.base_version,
                f.base_version_salt, h.version_salt, f.generation
            FROM client_file c
            JOIN server_file f ON f.file_id = c.file_id
            LEFT JOIN history h ON h.file_id = c.file_id AND h.version = $3
            WHERE c.file_id = $1 AND c.ident = $2
            """,
            [
                .integer(client.file.rawValue), .integer(Int64(bitPattern: client.ident.rawValue)),
                .integer(Int64(bitPattern: newest?.version.rawValue ?? 0)),
            ]
        )
    }
}

extension SessionGuard.Stored {
    /// Reads the rows of that step; nil if there is no such client file.
    init?(_ rows: Rows) throws(PostgreSQLError) {
        guard rows.count > 0 else { return nil }
        func number(_ column: Int) throws(PostgreSQLError) -> UInt64 {
            UInt64(bitPattern: try rows.integer(0, column))
        }
        let hasSalt = try !rows.isNull(0, 5)
        self.init(
            generation: try number(6),
            clientVersion: ClientVersion(try number(0)),
            sessionEpoch: try number(1),
            currentVersion: ServerVersion(try number(2)),
            base: SaltedServerVersion(
                version: ServerVersion(try number(3)),
                salt: Salt(try number(4))
            ),
            newestSalt: hasSalt ? Salt(try number(5)) : nil
        )
    }
}
