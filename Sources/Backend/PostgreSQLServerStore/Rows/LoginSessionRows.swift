import PostgreSQL
import ServerStore

/// The table `login_session`.
enum LoginSessionRows {
    static func reading(_ digest: SessionDigest, of app: AppID) -> Step {
        Step(
            """
            SELECT user_id, device_id, device, expires_at, is_revoked FROM login_session
            WHERE app_id = $1 AND digest = $2
            """,
            [.string(app.rawValue), .bytes(digest.bytes)]
        )
    }

    static func session(
        _ digest: SessionDigest,
        _ rows: StoredRows
    ) throws(StoreError) -> LoginSession? {
        guard !rows.isEmpty else { return nil }
        return LoginSession(
            digest: digest,
            userID: UserID(try rows.string(0, 0)),
            deviceID: try rows.string(0, 1),
            device: try rows.string(0, 2),
            expiresAt: try rows.integer(0, 3),
            isRevoked: try rows.bool(0, 4)
        )
    }

    /// One row if the user has logged in from the device.
    static func reading(device id: String, of user: UserID, in app: AppID) -> Step {
        Step(
            """
            SELECT true FROM login_session WHERE app_id = $1 AND user_id = $2 AND device_id = $3
            LIMIT 1
            """,
            [.string(app.rawValue), .string(user.rawValue), .string(id)]
        )
    }

    static func insertion(of session: LoginSession, in app: AppID, at now: Int64) -> Step {
        Step(
            """
            INSERT INTO login_session
                (app_id, digest, user_id, device_id, device, is_revoked, created_at, expires_at)
            VALUES ($1, $2, $3, $4, $5, $6, $7, $8)
            """,
            [
                .string(app.rawValue), .bytes(session.digest.bytes),
                .string(session.userID.rawValue), .string(session.deviceID),
                .string(session.device), .bool(session.isRevoked), .integer(now),
                .integer(session.expiresAt),
            ]
        )
    }

    static func revocation(of digest: SessionDigest, in app: AppID) -> Step {
        Step(
            "UPDATE login_session SET is_revoked = true WHERE app_id = $1 AND digest = $2",
            [.string(app.rawValue), .bytes(digest.bytes)]
        )
    }

    static func revocation(of user: UserID, in app: AppID) -> Step {
        Step(
            "UPDATE login_session SET is_revoked = true WHERE app_id = $1 AND user_id = $2",
            [.string(app.rawValue), .string(user.rawValue)]
        )
    }

    static func removal(in app: AppID, expiredAt time: Int64) -> Step {
        Step(
            "DELETE FROM login_session WHERE app_id = $1 AND expires_at < $2",
            [.string(app.rawValue), .integer(time)]
        )
    }

    /// Removes those beyond a number: revoked ones first, then the oldest.
    static func removalOfOldest(of user: UserID, in app: AppID, keeping limit: Int) -> Step {
        Step(
            """
            DELETE FROM login_session WHERE app_id = $1 AND digest = ANY (ARRAY(
                SELECT digest FROM login_session WHERE app_id = $1 AND user_id = $2
                ORDER BY is_revoked, created_at DESC, digest OFFSET $3))
            """,
            [.string(app.rawValue), .string(user.rawValue), .integer(Int64(max(0, limit)))]
        )
    }
}
