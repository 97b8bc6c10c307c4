internal import ClientReset
internal import SQLite

/// The row `_realm_reset`, which separates one attempt of a reset from the next (client reset, 8).
struct ResetRow {
    let connection: Connection

    /// Nil if there is none, or it cannot be read: then it does not count.
    func read() throws(SQLiteError) -> ResetAttempt? {
        let row = try connection.row(
            """
            SELECT agent_version, at, mode, action, error_code, error_text, failed, crashes
            FROM _realm_reset WHERE id = 1
            """
        )
        guard let row, case .text(let version) = row[0], case .integer(let startedAt) = row[1],
            case .integer(let mode) = row[2], let method = ResetMethod(rawValue: Int(mode)),
            case .integer(let word) = row[3], let action = ResetAction(rawValue: Int(word)),
            case .integer(let code) = row[4], case .text(let text) = row[5],
            case .integer(let failed) = row[6], case .integer(let crashes) = row[7]
        else { return nil }
        return ResetAttempt(
            agentVersion: version,
            startedAt: startedAt,
            method: method,
            cause: ResetCause(action: action, code: Int(code), message: text),
            isSpent: failed != 0,
            crashCount: Int(crashes)
        )
    }

    func write(_ attempt: ResetAttempt) throws(SQLiteError) {
        try connection.run(
            """
            INSERT OR REPLACE INTO _realm_reset(id, agent_version, at, mode, action, error_code,
              error_text, failed, crashes) VALUES (1, ?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8)
            """,
            [
                .text(attempt.agentVersion), .integer(attempt.startedAt),
                .integer(Int64(attempt.method.rawValue)), .integer(Int64(attempt.action.rawValue)),
                .integer(Int64(attempt.errorCode)), .text(attempt.errorText),
                .integer(attempt.isSpent ? 1 : 0), .integer(Int64(attempt.crashCount)),
            ]
        )
    }

    func markSpent() throws(SQLiteError) {
        try connection.run("UPDATE _realm_reset SET failed = 1")
    }

    func remove() throws(SQLiteError) {
        try connection.run("DELETE FROM _realm_reset")
    }
}
