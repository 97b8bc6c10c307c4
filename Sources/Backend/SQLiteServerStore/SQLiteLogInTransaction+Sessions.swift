import SQLite
import ServerStore

extension SQLiteLogInTransaction {
    func loginSession(
        _ digest: SessionDigest,
        of app: AppID
    ) throws(StoreError) -> LoginSession? {
        let row = try translating {
            try connection.row(
                """
                SELECT user_id, device_id, device, expires_at, is_revoked FROM login_session
                WHERE app_id = ? AND digest = ?
                """,
                [.text(app.rawValue), .blob(digest.bytes)]
            )
        }
        guard let row, case .text(let user) = row[0], case .text(let device) = row[1],
            case .text(let report) = row[2], case .integer(let expiresAt) = row[3],
            case .integer(let isRevoked) = row[4]
        else { return nil }
        return LoginSession(
            digest: digest,
            userID: UserID(user),
            deviceID: device,
            device: report,
            expiresAt: expiresAt,
            isRevoked: isRevoked != 0
        )
    }

    func isDevice(
        _ id: String,
        knownOf user: UserID,
        of app: AppID
    ) throws(StoreError) -> Bool {
        try translating {
            try connection.integer(
                """
                SELECT 1 FROM login_session WHERE app_id = ? AND user_id = ? AND device_id = ?
                LIMIT 1
                """,
                [.text(app.rawValue), .text(user.rawValue), .text(id)]
            ) != nil
        }
    }

    func insert(_ session: LoginSession, of app: AppID, at now: Int64) throws(StoreError) {
        try StorableName.check(session.deviceID)
        try translating {
            try connection.run(
                """
                INSERT INTO login_session
                    (app_id, digest, user_id, device_id, device, is_revoked, created_at, expires_at)
                VALUES (?, ?, ?, ?, ?, ?, ?, ?)
                """,
                [
                    .text(app.rawValue), .blob(session.digest.bytes),
                    .text(session.userID.rawValue), .text(session.deviceID),
                    .text(session.device), .integer(session.isRevoked ? 1 : 0), .integer(now),
                    .integer(session.expiresAt),
                ]
            )
        }
    }

    func revokeLoginSession(_ digest: SessionDigest, of app: AppID) throws(StoreError) {
        try translating {
            try connection.run(
                "UPDATE login_session SET is_revoked = 1 WHERE app_id = ? AND digest = ?",
                [.text(app.rawValue), .blob(digest.bytes)]
            )
        }
    }

    func revokeLoginSessions(ofUser user: UserID, of app: AppID) throws(StoreError) {
        try translating {
            try connection.run(
                "UPDATE login_session SET is_revoked = 1 WHERE app_id = ? AND user_id = ?",
                [.text(app.rawValue), .text(user.rawValue)]
            )
        }
    }

    func removeLoginSessions(of app: AppID, expiredAt time: Int64) throws(StoreError) {
        try translating {
            try connection.run(
                "DELETE FROM login_session WHERE app_id = ? AND expires_at < ?",
                [.text(app.rawValue), .integer(time)]
            )
        }
    }

    func abandonedUsers(
        of app: AppID,
        createdBefore time: Int64,
        limit: Int
    ) throws(StoreError) -> [UserID] {
        let rows = try translating {
            try connection.rows(
                """
                SELECT user_id FROM user WHERE app_id = ?1 AND created_at < ?2
                    AND NOT EXISTS (
                        SELECT 1 FROM login_session
                        WHERE login_session.app_id = ?1 AND login_session.user_id = user.user_id)
                    AND NOT EXISTS (
                        SELECT 1 FROM identity
                        WHERE identity.app_id = ?1 AND identity.user_id = user.user_id
                            AND provider <> ?3)
                    AND NOT EXISTS (
                        SELECT 1 FROM api_key
                        WHERE api_key.app_id = ?1 AND api_key.user_id = user.user_id)
                LIMIT ?4
                """,
                [
                    .text(app.rawValue), .integer(time), .text(ProviderType.anonymous.rawValue),
                    .integer(Int64(limit)),
                ]
            )
        }
        return rows.compactMap { row in
            guard case .text(let id) = row[0] else { return nil }
            return UserID(id)
        }
    }

    func removeOldestLoginSessions(
        ofUser user: UserID,
        of app: AppID,
        keeping limit: Int
    ) throws(StoreError) {
        let owner: [SQLiteValue] = [.text(app.rawValue), .text(user.rawValue)]
        try translating {
            let count = try connection.integer(
                "SELECT count(*) FROM login_session WHERE app_id = ? AND user_id = ?",
                owner
            )
            guard let count, count > limit else { return }
            try connection.run(
                """
                DELETE FROM login_session WHERE app_id = ?1 AND digest IN (
                    SELECT digest FROM login_session WHERE app_id = ?1 AND user_id = ?2
                    ORDER BY is_revoked, created_at DESC, digest LIMIT -1 OFFSET ?3)
                """,
                owner + [.integer(Int64(limit))]
            )
        }
    }
}
