import FoundationEssentials
import JSON

/// A user's proof of identity (app services, 4.1).
package enum Credential: Sendable {
    case anonymous
    case emailPassword(email: String, password: String)
    case apiKey(String)
    /// A JSON Web Token that a third party has issued.
    case customToken(String)
    case customFunction(FunctionPayload)

    /// The provider's name in paths and bodies.
    package var provider: String {
        switch self {
        case .anonymous: "anon-user"
        case .emailPassword: "local-userpass"
        case .apiKey: "api-key"
        case .customToken: "custom-token"
        case .customFunction: "custom-function"
        }
    }

    /// The body of a log-in, without its options.
    var members: [String: JSONValue] {
        var members: [String: JSONValue]
        switch self {
        case .anonymous: members = [:]
        case .emailPassword(let email, let password):
            members = ["username": .string(email), "password": .string(password)]
        case .apiKey(let key): members = ["key": .string(key)]
        case .customToken(let token): members = ["token": .string(token)]
        // The function gets the payload unchanged, without its own name.
        case .customFunction(let payload): return payload.members
        }
        members["provider"] = .string(provider)
        return members
    }
}

/// The document by which a custom function identifies a user.
package struct FunctionPayload: Sendable {
    let members: [String: JSONValue]

    /// Nil unless the text is a JSON object; plain numbers become Extended JSON.
    package init?(json text: String) {
        guard
            let value = try? JSONDecoder().decode(JSONValue.self, from: Data(text.utf8)),
            case .object(let members) = value.canonical
        else { return nil }
        self.members = members
    }
}

extension Credential: CustomStringConvertible, CustomReflectable {
    package var description: String { provider }
    package var customMirror: Mirror { Mirror(self, children: [:]) }
}

extension FunctionPayload: CustomStringConvertible, CustomReflectable {
    package var description: String { "<redacted>" }
    package var customMirror: Mirror { Mirror(self, children: [:]) }
}
