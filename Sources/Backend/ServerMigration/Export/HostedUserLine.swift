import JSON
import ServerStore

/// A user in the form of the hosted service's listing.
struct HostedUserLine {
    private let user: User

    init(_ user: User) {
        self.user = user
    }

    func bytes() throws -> [UInt8] {
        let identities = user.identities.map { identity -> JSONValue in
            var members: [String: JSONValue] = [
                "id": .string(identity.id),
                "provider_type": .string(identity.provider.rawValue),
            ]
            if !identity.email.isEmpty {
                members["provider_data"] = .object(["email": .string(identity.email)])
            }
            return .object(members)
        }
        let line = JSONValue.object([
            "_id": .string(user.id.rawValue), "type": .string(user.kind.rawValue),
            "disabled": .bool(user.isDisabled), "data": .object(user.data),
            "identities": .array(identities),
        ])
        return try line.json() + [UInt8(ascii: "\n")]
    }
}
