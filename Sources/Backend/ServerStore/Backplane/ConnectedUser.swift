/// A user at the other end of a sync connection.
package struct ConnectedUser: Hashable, Sendable {
    package let id: UserID
    package let app: AppID
    /// End of the connection, so that the client reconnects with a new token; milliseconds since
    /// 1970 (app services, 10.4).
    package let mustLeaveAt: Int64
    /// The log-in session that opened the connection, which ends with it; nil: only the user
    /// counts.
    package let session: SessionDigest?

    package init(id: UserID, app: AppID, mustLeaveAt: Int64, session: SessionDigest? = nil) {
        self.id = id
        self.app = app
        self.mustLeaveAt = mustLeaveAt
        self.session = session
    }
}
