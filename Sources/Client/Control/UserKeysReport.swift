/// The API keys of a configured user: the answer of `GET /v1/users/U/api-keys` and of each change.
package struct UserKeysReport: Codable, Sendable, Equatable {
    /// After a creation, only the new key.
    package let apiKeys: [UserKeyReport]

    package init(apiKeys: [UserKeyReport]) {
        self.apiKeys = apiKeys
    }
}

/// One API key, which logs in as its user.
package struct UserKeyReport: Codable, Sendable, Equatable {
    package let id: String
    package let name: String
    package let disabled: Bool
    /// The secret; only in the answer to the creation.
    package let key: String?

    package init(id: String, name: String, disabled: Bool, key: String? = nil) {
        self.id = id
        self.name = name
        self.disabled = disabled
        self.key = key
    }
}

extension UserKeyReport: CustomStringConvertible, CustomReflectable {
    package var description: String { "API key \(id)" }
    package var customMirror: Mirror { Mirror(self, children: ["id": id]) }
}

/// A request about the API keys of a user.
package enum UserKeyRequest: Sendable, Equatable {
    case list
    case create(name: String)
    case enable(id: String)
    case disable(id: String)
    case delete(id: String)
}

/// The body of `POST /v1/users/U/api-keys`.
struct UserKeyName: Codable, Sendable {
    let name: String
}
