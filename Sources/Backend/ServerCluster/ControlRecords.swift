import ServerStore

/// The database's records of the apps, users, log-in sessions and client files that this process
/// has connections of.
struct ControlRecords: Hashable, Sendable {
    /// All apps.
    var apps: [AppID: App] = [:]
    /// Those that exist and may sync.
    var users: Set<AppMember<UserID>> = []
    var disabledUsers: Set<AppMember<UserID>> = []
    /// Those that exist and are not revoked.
    var loginSessions: Set<AppMember<SessionDigest>> = []
    /// Those that exist, with the epochs of their newest sessions.
    var clients: [ClientFileID: UInt64] = [:]

    struct App: Hashable, Sendable {
        var isEnabled: Bool
        /// Differs after each change of the app's record.
        var digest: String
    }
}
