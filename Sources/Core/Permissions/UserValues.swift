package import JSON

/// The values of a user that rules know: id, type, profile data and custom data (app services, 7.1 and 10.5).
package struct UserValues: Hashable, Sendable {
    package let id: String
    /// `normal` or `server`.
    package let type: String
    package let data: [String: JSONValue]
    /// The user's own object as canonical Extended JSON, as in tokens; nil if there is none.
    package let customData: JSONValue?

    package init(
        id: String,
        type: String,
        data: [String: JSONValue] = [:],
        customData: JSONValue? = nil
    ) {
        self.id = id
        self.type = type
        self.data = data.mapValues(\.plain)
        self.customData = customData?.plain
    }

    /// Nil if it is missing or null.
    package subscript(name: UserValueName) -> JSONValue? {
        let value: JSONValue? =
            switch name {
            case .id: .string(id)
            case .type: .string(type)
            case .data(let path): JSONValue.object(data)[path.map { $0[...] }]
            case .customData(let path): customData?[path.map { $0[...] }]
            }
        return value == .null ? nil : value
    }
}

/// A value of a user that a rule names.
package enum UserValueName: Hashable, Sendable {
    case id
    case type
    /// A member of the profile data.
    case data([String])
    /// A member of the custom data.
    case customData([String])

    /// `user.id`, `user.type`, `user.data.NAME` or `user.custom_data.NAME`; nil for another word.
    package init?(_ word: String) {
        let parts = word.split(separator: ".", omittingEmptySubsequences: false).map(String.init)
        guard parts.first == "user", !parts.contains("") else { return nil }
        let path = Array(parts.dropFirst(2))
        switch parts.dropFirst().first {
        case "id" where path.isEmpty: self = .id
        case "type" where path.isEmpty: self = .type
        case "data" where !path.isEmpty: self = .data(path)
        case "custom_data" where !path.isEmpty: self = .customData(path)
        default: return nil
        }
    }
}

extension UserValueName: CustomStringConvertible {
    package var description: String {
        switch self {
        case .id: "user.id"
        case .type: "user.type"
        case .data(let path): (["user", "data"] + path).joined(separator: ".")
        case .customData(let path): (["user", "custom_data"] + path).joined(separator: ".")
        }
    }
}

extension UserValueName {
    /// For errors.
    static let known = "user.id, user.type, user.data.NAME or user.custom_data.NAME"
    static let knownInFilters =
        "$user.id, $user.type, $user.data.NAME or $user.custom_data.NAME"
}
