/// The connections and sessions of a process, which the store's records may concern.
package struct ConnectionPresence: Hashable, Sendable {
    package var counts: [AppID: ConnectionCounts]
    /// The client files with a session, and its epoch.
    package var clients: [ClientFileID: UInt64]
    /// The users of the connections.
    package var users: Set<AppMember<UserID>>
    /// The log-in sessions that opened the connections.
    package var loginSessions: Set<AppMember<SessionDigest>>
    /// A digest of each app's configuration, equal in processes that have the same one.
    package var fingerprints: [AppID: String]
    /// The shortest time, of all apps, after which an absent client starts over; nil: none does.
    package var offlineLimitInMilliseconds: Int64?

    package init(
        counts: [AppID: ConnectionCounts] = [:],
        clients: [ClientFileID: UInt64] = [:],
        users: Set<AppMember<UserID>> = [],
        loginSessions: Set<AppMember<SessionDigest>> = [],
        fingerprints: [AppID: String] = [:],
        offlineLimitInMilliseconds: Int64? = nil
    ) {
        self.counts = counts
        self.clients = clients
        self.users = users
        self.loginSessions = loginSessions
        self.fingerprints = fingerprints
        self.offlineLimitInMilliseconds = offlineLimitInMilliseconds
    }

    /// All of several.
    package mutating func formUnion(_ other: Self) {
        counts.merge(other.counts, uniquingKeysWith: +)
        clients.merge(other.clients) { _, new in new }
        users.formUnion(other.users)
        loginSessions.formUnion(other.loginSessions)
        fingerprints.merge(other.fingerprints) { _, new in new }
        let limits = [offlineLimitInMilliseconds, other.offlineLimitInMilliseconds]
        offlineLimitInMilliseconds = limits.compactMap { $0 }.min()
    }
}

/// An id that is unique within an app.
package struct AppMember<ID: Hashable & Sendable>: Hashable, Sendable {
    package let id: ID
    package let app: AppID

    package init(_ id: ID, of app: AppID) {
        self.id = id
        self.app = app
    }
}
