package import Settings
import YAML

/// How an app trusts the tokens of a third party (app services, 10.6).
package struct JWTConfiguration: Hashable, Sendable {
    package enum Algorithm: String, Hashable, Sendable, CaseIterable {
        case hs256 = "HS256"
        case rs256 = "RS256"
        case es256 = "ES256"
    }

    /// A claim that becomes part of the profile.
    package struct Metadata: Hashable, Sendable {
        /// Dots lead into objects.
        package let name: String
        package let fieldName: String
        package let isRequired: Bool
    }

    package let algorithm: Algorithm
    /// A secret of HS256, else a public key as PEM.
    package let key: SecretReference
    /// Empty: the app id.
    package let audiences: [String]
    package let metadata: [Metadata]

    static let minimumSecretLength = 32

    /// Members of a profile that clients read as strings (app services, 7.1).
    static let textFields: Set<String> = [
        "name", "email", "picture_url", "first_name", "last_name", "gender", "birthday", "min_age",
        "max_age",
    ]
}

extension NodeReader {
    func jwt() -> JWTConfiguration? {
        mapping { keys in
            let algorithm: JWTConfiguration.Algorithm? = keys.required("algorithm") { $0.choice() }
            let remedy = "give public_key for RS256 and ES256, secret for HS256"
            let key = keys.exactlyOne(of: ["public_key", "secret"], remedy: remedy) { name, value in
                if let algorithm, (name == "secret") != (algorithm == .hs256) {
                    value.report(
                        .badValue,
                        "does not go with \(algorithm.rawValue)",
                        remedy: remedy
                    )
                }
                return value.secret()
            }
            let audiences = keys.optional("audience", default: []) { $0.texts() }
            let metadata = keys.optional("metadata", default: []) { $0.metadata() }
            guard let algorithm, let key else { return nil }
            return JWTConfiguration(
                algorithm: algorithm,
                key: key,
                audiences: audiences,
                metadata: metadata
            )
        }
    }

    /// One string, or a list of them.
    private func texts() -> [String]? {
        either(scalar: { reader in reader.string().map { [$0] } }, collection: { $0.strings() })
    }

    private func metadata() -> [JWTConfiguration.Metadata]? {
        elements { element in
            element.mapping { keys in
                let name = keys.required("name") { $0.string() }
                let fieldName = keys.optional("field_name") { $0.string() }
                let isRequired = keys.optional("required", default: false) { $0.bool() }
                return name.map {
                    JWTConfiguration.Metadata(
                        name: $0,
                        fieldName: fieldName ?? $0,
                        isRequired: isRequired
                    )
                }
            }
        }
    }
}
