/// The store's record of an app.
package struct AppRecord: Hashable, Sendable {
    package let id: AppID
    /// 24 hexadecimal digits: the app's name in tokens and profiles.
    package let domainID: String
    /// Oldest first; the last one signs.
    package let keys: [SigningKey]
    package let syncState: SyncState
    /// The app's configuration, as JSON of the same form; nil for an app of the file.
    package let declaration: String?
    /// The operator's rules; for apps of the store only.
    package let rules: AccessRules

    package init(
        id: AppID,
        domainID: String,
        keys: [SigningKey],
        syncState: SyncState = .enabled,
        declaration: String? = nil,
        rules: AccessRules = AccessRules()
    ) {
        self.id = id
        self.domainID = domainID
        self.keys = keys
        self.syncState = syncState
        self.declaration = declaration
        self.rules = rules
    }
}

/// Whether clients of an app may sync (app services, 12.2).
package enum SyncState: String, Hashable, Sendable, Codable {
    case enabled
    /// No client may sync; all continue later where they stopped.
    case paused
    /// No client may sync, and all must start over.
    case terminated
}
