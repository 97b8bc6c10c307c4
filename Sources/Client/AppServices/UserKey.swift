/// A user's own API key (app services, 7.5).
package struct UserKey: Decodable, Sendable, Equatable {
    package let id: String
    package let name: String
    package let isDisabled: Bool
    /// Proves the user's identity in a log-in; only in the response that created the key.
    package let secret: String?

    enum CodingKeys: String, CodingKey {
        case id = "_id"
        case name
        case isDisabled = "disabled"
        case secret = "key"
    }
}

extension UserKey: CustomStringConvertible, CustomReflectable {
    package var description: String { "API key \(id)" }
    package var customMirror: Mirror { Mirror(self, children: ["id": id]) }
}
