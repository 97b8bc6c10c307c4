/// What the store keeps of an app itself.
package struct AppRecord: Hashable, Sendable {
    package let id: AppID
    /// 24 hexadecimal digits: the app's name in tokens and profiles.
    package let domainID: String
    /// Oldest first; the last one signs.
    package let keys: [SigningKey]
    package let syncState: SyncState
    /// What the app is, as JSON of the form of the configuration; nil for an app of the file.
    package let declaration: String?
    /// What an operator has set; it counts for apps of the store only.
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
    /// Nobody may; everybody goes on later where they stopped.
    case paused
    /// Nobody may, and everybody will have to start over.
    case terminated
}
