import Crypto
import JSON
import JWTKit
import ServerConfig
import ServerStore
import Settings

/// Checks tokens that a third party signs for the users of an app (app services, 10.6).
struct ExternalTokens: Sendable {
    private let configuration: JWTConfiguration
    private let app: AppID
    private let keys: VerificationKeys
    /// Detects a change of the keys.
    let keyDigest: SHA256Digest

    init(
        _ configuration: JWTConfiguration,
        of app: AppID,
        _ secrets: SecretReader
    ) async throws {
        var digest = SHA256()
        let keys: [VerificationKey]
        do {
            keys = try Self.keys(configuration.keys, for: configuration.algorithm, secrets) {
                digest.update(data: Array($0.utf8))
            }
        } catch let error as BadKey {
            throw UnusableKey(app: app, reason: error.description)
        }
        self.keyDigest = digest.finalize()
        self.keys = await VerificationKeys(keys)
        self.configuration = configuration
        self.app = app
    }

    /// The keys that the configuration refers to; `visit` gets their texts.
    static func keys(
        _ keys: JWTConfiguration.Keys,
        for algorithm: JWTConfiguration.Algorithm,
        _ secrets: SecretReader,
        _ visit: (String) -> Void = { _ in }
    ) throws -> [VerificationKey] {
        func read<Key>(
            _ reference: SecretReference,
            _ make: (String) throws(VerificationKey.Unusable) -> Key
        ) throws -> Key {
            let text = try secrets.read(reference)
            visit(text)
            do throws(VerificationKey.Unusable) {
                return try make(text)
            } catch {
                throw BadKey(description: "the key \(reference): \(error)")
            }
        }
        switch keys {
        case .each(let references):
            return try references.map { reference in
                try read(reference) { text throws(VerificationKey.Unusable) in
                    try VerificationKey(text: text, for: algorithm)
                }
            }
        case .set(let reference):
            return try read(reference) { text throws(VerificationKey.Unusable) in
                try VerificationKey.keySet(text, for: algorithm)
            }
        }
    }

    private struct BadKey: Error, CustomStringConvertible {
        let description: String
    }

    /// The configured key is invalid.
    struct UnusableKey: CodedError, CustomStringConvertible {
        let app: AppID
        let reason: String

        let code = "server.jwt_key"

        var description: String { "apps.\(app).providers.jwt: \(reason)" }
    }

    /// A token does not identify a user.
    struct Refusal: Error {
        let reason: String
    }

    private struct Claims: JWTPayload {
        let members: [String: JSONValue]

        init(from decoder: any Decoder) throws {
            members = try decoder.singleValueContainer().decode([String: JSONValue].self)
        }

        func encode(to encoder: any Encoder) throws {
            var container = encoder.singleValueContainer()
            try container.encode(members)
        }

        /// Claims are checked afterwards; this verifies only the signature.
        func verify(using algorithm: some JWTAlgorithm) {}
    }

    func prove(_ token: String, at now: Int64) async throws -> ProvenIdentity {
        let parsed = try? DefaultJWTParser().parse([UInt8](token.utf8), as: Claims.self)
        guard let parsed, parsed.header.alg == configuration.algorithm.rawValue else {
            throw Self.refusal("not a token of algorithm \(configuration.algorithm.rawValue)")
        }
        let signed = await keys.claims(
            of: token,
            signedBy: parsed.header.kid,
            as: Claims.self
        )
        guard let claims = signed?.members else { throw Self.refusal("bad signature") }
        guard case .string(let subject)? = claims["sub"], !subject.isEmpty else {
            throw Self.refusal("no subject")
        }
        guard subject.utf8.count <= Self.subjectSizeInBytes else {
            throw Self.refusal("the subject has more than \(Self.subjectSizeInBytes) bytes")
        }
        if !configuration.issuers.isEmpty {
            guard case .string(let issuer)? = claims["iss"], configuration.issuers.contains(issuer)
            else { throw Self.refusal("not of a trusted issuer") }
        }
        try checkTimes(claims, Double(now))
        try checkAudience(claims["aud"])
        return ProvenIdentity(
            identity: Identity(id: subject, provider: .customToken, email: ""),
            data: try metadata(.object(claims))
        )
    }

    /// As long as a name may be; it identifies the user in every record.
    private static let subjectSizeInBytes = UserName.maximumSizeInBytes

    /// The tolerance for clocks of other machines, in seconds.
    private static let leeway: Double = 10

    private func checkTimes(
        _ claims: [String: JSONValue],
        _ now: Double
    ) throws(Refusal) {
        guard let expiry = claims["exp"]?.seconds else { throw Self.refusal("no expiry") }
        guard expiry > now else { throw Self.refusal("expired") }
        for name in ["iat", "nbf"] {
            guard let claim = claims[name] else { continue }
            guard let time = claim.seconds, time <= now + Self.leeway else {
                throw Self.refusal("\(name) lies in the future")
            }
        }
    }

    private func checkAudience(_ claim: JSONValue?) throws(Refusal) {
        let named: [String] =
            switch claim {
            case .string(let one): [one]
            case .array(let several): several.compactMap(\.text)
            default: []
            }
        let wanted = configuration.audiences.isEmpty ? [app.rawValue] : configuration.audiences
        let isMeant =
            configuration.needsEveryAudience
            ? wanted.allSatisfy { named.contains($0) } : wanted.contains { named.contains($0) }
        guard isMeant else { throw Self.refusal("not for this app") }
    }

    private func metadata(
        _ claims: JSONValue
    ) throws(Refusal) -> [String: JSONValue] {
        var data: [String: JSONValue] = [:]
        for field in configuration.metadata {
            let value = claims[field.path.map { $0[...] }]
            guard let value, value != .null else {
                guard !field.isRequired else { throw Self.refusal("no claim \(field.name)") }
                continue
            }
            let isText = JWTConfiguration.textFields.contains(field.fieldName)
            data[field.fieldName] = isText ? value.text.map { .string($0) } : value
        }
        return data
    }

    private static func refusal(_ reason: String) -> Refusal {
        Refusal(reason: reason)
    }
}
