/// What the store keeps of an app itself.
package struct AppRecord: Hashable, Sendable {
    package let id: AppID
    /// 24 hexadecimal digits: the app's name in tokens and profiles.
    package let domainID: String
    /// Oldest first; the last one signs.
    package let keys: [SigningKey]

    package init(id: AppID, domainID: String, keys: [SigningKey]) {
        self.id = id
        self.domainID = domainID
        self.keys = keys
    }
}
