import ServerStore

/// Rows about accounts that a transaction has read; any write of accounts makes them void.
struct KnownAccounts {
    private struct Key<ID: Hashable>: Hashable {
        let app: AppID
        let id: ID
    }

    /// Nil: there is no such row.
    private var users: [Key<UserID>: User?] = [:]
    private var passwords: [Key<UserName>: PasswordAccount?] = [:]
    private var sessions: [Key<SessionDigest>: LoginSession?] = [:]

    mutating func note(_ user: User?, _ id: UserID, _ app: AppID) {
        users.updateValue(user, forKey: Key(app: app, id: id))
    }

    mutating func note(_ account: PasswordAccount?, _ name: UserName, _ app: AppID) {
        passwords.updateValue(account, forKey: Key(app: app, id: name))
    }

    mutating func note(_ session: LoginSession?, _ digest: SessionDigest, _ app: AppID) {
        sessions.updateValue(session, forKey: Key(app: app, id: digest))
    }

    // Nil: the database must be asked.

    func user(_ id: UserID, _ app: AppID) -> User?? {
        users[Key(app: app, id: id)]
    }

    func account(_ name: UserName, _ app: AppID) -> PasswordAccount?? {
        passwords[Key(app: app, id: name)]
    }

    func session(_ digest: SessionDigest, _ app: AppID) -> LoginSession?? {
        sessions[Key(app: app, id: digest)]
    }
}
