package import BSON
import Changesets
package import JSON

/// A user as the hosted service listed it (moving an app, 7).
package struct HostedUser: Hashable, Sendable {
    package struct Identity: Hashable, Sendable {
        package let id: String
        /// `local-userpass`, `custom-token`, …
        package let provider: String
        /// Of an e-mail/password identity, if the listing has it.
        package let email: String?
    }

    package let id: String
    package let identities: [Identity]
    package let isServer: Bool
    package let isDisabled: Bool
    package let data: [String: JSONValue]

    /// Nil for an object that is not a user: a pending registration, an API key.
    package init?(_ tree: JSONTree) {
        guard let id = tree["_id"]?.text ?? tree["_id"]?["$oid"]?.text else { return nil }
        self.id = id
        if let email = tree["email"]?.text, tree["identities"] == nil {
            // The simple form, for lists that teams made themselves.
            self.identities = [Identity(id: id, provider: "local-userpass", email: email)]
            self.isServer = false
            self.isDisabled = tree["disabled"]?.bool ?? false
            self.data = [:]
            return
        }
        guard let identities = tree["identities"]?.elements else { return nil }
        self.data =
            (tree["data"] ?? .null).members.map { members in
                Dictionary(members.map { ($0.name.description, $0.value.plain) }) { $1 }
            } ?? [:]
        let profileEmail = tree["data"]?["email"]?.text
        self.identities = identities.compactMap { identity in
            guard let provider = identity["provider_type"]?.text else { return nil }
            let own = identity["provider_data"]?["email"]?.text
            return Identity(
                id: identity["id"]?.text ?? id,
                provider: provider,
                email: provider == "local-userpass" ? own ?? profileEmail : nil
            )
        }
        self.isServer = tree["type"]?.text == "server"
        self.isDisabled = tree["disabled"]?.bool ?? false
    }

    /// Whether an object of a listing is a registration that was not confirmed.
    package static func isPending(_ tree: JSONTree) -> Bool {
        tree["login_ids"] != nil && tree["identities"] == nil
    }
}

extension JSONTree {
    /// As a value without order.
    fileprivate var plain: JSONValue {
        switch self {
        case .null: .null
        case .bool(let value): .bool(value)
        case .number(let text):
            Int64(text).map { .integer($0) } ?? Double(text).map { .number($0) } ?? .null
        case .string(let text): .string(text.description)
        case .array(let elements): .array(elements.map(\.plain))
        case .object(let members):
            .object(Dictionary(members.map { ($0.name.description, $0.value.plain) }) { $1 })
        }
    }
}
