import FoundationEssentials
import JSON

/// The server's record of a user (app services, 7.1).
package struct Profile: Equatable, Sendable {
    package struct Identity: Codable, Equatable, Sendable {
        package let id: String
        package let providerType: String

        package init(id: String, providerType: String) {
            self.id = id
            self.providerType = providerType
        }

        enum CodingKeys: String, CodingKey {
            case id
            case providerType = "provider_type"
        }
    }

    package let identities: [Identity]
    /// A JSON object: name, email address and the provider's other data.
    package let data: String

    package init(identities: [Identity], data: String = "{}") {
        self.identities = identities
        self.data = data
    }

    /// Whether the user has only an anonymous identity, and so is lost after a log-out.
    package var isAnonymous: Bool {
        identities.count == 1 && identities[0].providerType == Credential.anonymous.provider
    }
}

extension Profile: Decodable {
    private enum CodingKeys: String, CodingKey {
        case identities, data
    }

    package init(from decoder: any Decoder) throws {
        let container = try decoder.container(keyedBy: CodingKeys.self)
        self.identities = try container.decode([Identity].self, forKey: .identities)
        let data = try container.decode([String: JSONValue].self, forKey: .data)
        self.data = JSONValue.object(data).text
    }
}

extension Profile {
    /// The identities as JSON, for storing.
    package var identitiesText: String {
        let encoder = JSONEncoder()
        encoder.outputFormatting = .sortedKeys
        return (try? encoder.encode(identities)).map { String(decoding: $0, as: UTF8.self) } ?? "[]"
    }

    /// Reads the stored form; nil if it is damaged.
    package init?(identitiesText: String, data: String) {
        guard
            let identities = try? JSONDecoder().decode(
                [Identity].self,
                from: Data(identitiesText.utf8)
            )
        else { return nil }
        self.init(identities: identities, data: data)
    }
}
