package import Settings
import YAML

/// The conditions under which an app trusts the tokens of a third party (app services, 10.6).
package struct JWTConfiguration: Hashable, Sendable {
    package enum Algorithm: String, Hashable, Sendable, CaseIterable {
        case hs256 = "HS256"
        case rs256 = "RS256"
        case es256 = "ES256"
    }

    /// A claim that becomes part of the profile.
    package struct Metadata: Hashable, Sendable {
        /// Dots lead into objects, but for those behind a backslash.
        package let name: String
        package let fieldName: String
        package let isRequired: Bool

        package init(name: String, fieldName: String, isRequired: Bool) {
            self.name = name
            self.fieldName = fieldName
            self.isRequired = isRequired
        }

        /// The names on the way to the claim. A backslash takes the character behind it as it is.
        package var path: [String] {
            var path = [""]
            var isEscaped = false
            for character in name {
                switch character {
                case "\\" where !isEscaped:
                    isEscaped = true
                    continue
                case "." where !isEscaped: path.append("")
                default: path[path.count - 1].append(character)
                }
                isEscaped = false
            }
            return path.filter { !$0.isEmpty }
        }
    }

    /// The source of the keys that may have signed a token.
    package enum Keys: Hashable, Sendable {
        /// Up to three: secrets of HS256, else public keys as PEM.
        case each([SecretReference])
        /// A JSON Web Key Set.
        case set(SecretReference)
    }

    package let algorithm: Algorithm
    package let keys: Keys
    /// Empty: the app id.
    package let audiences: [String]
    /// Whether a token must name all audiences; otherwise one is enough.
    package let needsEveryAudience: Bool
    package let metadata: [Metadata]
    /// One of them must have issued a token; empty: any.
    package let issuers: [String]

    package init(
        algorithm: Algorithm,
        keys: Keys,
        audiences: [String] = [],
        needsEveryAudience: Bool = false,
        metadata: [Metadata] = [],
        issuers: [String] = []
    ) {
        self.algorithm = algorithm
        self.keys = keys
        self.audiences = audiences
        self.needsEveryAudience = needsEveryAudience
        self.metadata = metadata
        self.issuers = issuers
    }

    static let keyCount = 1...3

    /// Members of a profile that clients read as strings (app services, 7.1).
    package static let textFields: Set<String> = [
        "name", "email", "picture_url", "first_name", "last_name", "gender", "birthday", "min_age",
        "max_age",
    ]
}

private enum JWTAudienceMatch: String, CaseIterable {
    case any, all
}

extension NodeReader {
    func jwt(_ files: NamedFiles?) -> JWTConfiguration? {
        mapping { keys in
            let algorithm: JWTConfiguration.Algorithm? = keys.required("algorithm") { $0.choice() }
            let remedy = "give public_key for RS256 and ES256, secret for HS256, or key_set"
            let source = keys.exactlyOneBesideOthers(
                of: ["public_key", "secret", "key_set"],
                remedy: remedy
            ) { name, value -> JWTConfiguration.Keys? in
                if name == "key_set" {
                    let keySet = value.secret()
                    if let algorithm, let keySet {
                        files?.check(.set(keySet), for: algorithm, at: value)
                    }
                    return keySet.map { .set($0) }
                }
                if let algorithm, (name == "secret") != (algorithm == .hs256) {
                    value.report(
                        .badValue,
                        "does not go with \(algorithm.rawValue)",
                        remedy: remedy
                    )
                }
                return value.secrets { reference, node in
                    guard let algorithm else { return }
                    files?.check(.each([reference]), for: algorithm, at: node)
                }.map { .each($0) }
            }
            let audiences = keys.optional("audience", default: []) { $0.texts() }
            let match: JWTAudienceMatch = keys.optional("audience_match", default: .any) {
                $0.choice()
            }
            let metadata = keys.optional("metadata", default: []) { $0.metadata() }
            let issuers = keys.optional("issuer", default: []) { $0.texts() }
            guard let algorithm, let source else { return nil }
            return JWTConfiguration(
                algorithm: algorithm,
                keys: source,
                audiences: audiences,
                needsEveryAudience: match == .all,
                metadata: metadata,
                issuers: issuers
            )
        }
    }

    /// One secret, or a list of up to three: a new key beside the old ones.
    private func secrets(
        _ check: (SecretReference, NodeReader) -> Void
    ) -> [SecretReference]? {
        func checked(_ node: NodeReader) -> SecretReference? {
            let reference = node.secret()
            if let reference { check(reference, node) }
            return reference
        }
        describe(.list(.named(.text)))
        guard case .sequence(let elements) = node.content else { return checked(self).map { [$0] } }
        guard JWTConfiguration.keyCount.contains(elements.count) else {
            report(
                .badValue,
                "is a list of \(elements.count)",
                remedy: "give 1 to 3 keys, or a key_set"
            )
            return nil
        }
        return self.elements(checked)
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
