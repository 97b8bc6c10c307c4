import JSON
import JWTKit

/// Checks tokens that a third party signs for the users of an app (app services, 10.6).
struct ExternalTokens: Sendable {
    private let configuration: JWTConfiguration
    private let app: AppID
    private let keys: JWTKeyCollection

    init(
        _ configuration: JWTConfiguration,
        of app: AppID,
        _ secrets: SecretReader
    ) async throws {
        let text = try secrets.read(configuration.key)
        let keys = JWTKeyCollection()
        do {
            switch configuration.algorithm {
            case .hs256:
                guard text.utf8.count >= JWTConfiguration.minimumSecretLength else {
                    throw BadKey(reason: "it has less than 32 characters")
                }
                await keys.add(hmac: HMACKey(from: text), digestAlgorithm: .sha256)
            case .rs256:
                await keys.add(
                    rsa: try Insecure.RSA.PublicKey(pem: text),
                    digestAlgorithm: .sha256
                )
            case .es256:
                await keys.add(ecdsa: try ES256PublicKey(pem: text))
            }
        } catch {
            throw UnusableKey(app: app, key: "\(configuration.key)", reason: "\(error)")
        }
        self.configuration = configuration
        self.app = app
        self.keys = keys
    }

    private struct BadKey: Error, CustomStringConvertible {
        let reason: String
        var description: String { reason }
    }

    /// The key that is configured is none.
    struct UnusableKey: CodedError, CustomStringConvertible {
        let app: AppID
        let key: String
        let reason: String

        let code = "server.jwt_key"

        var description: String { "apps.\(app).providers.jwt: the key \(key): \(reason)" }
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

        /// What the claims say is looked at afterwards; this is about the signature only.
        func verify(using algorithm: some JWTAlgorithm) {}
    }

    func prove(_ token: String, at now: Int64) async throws -> ProvenIdentity {
        let parsed = try? DefaultJWTParser().parse([UInt8](token.utf8), as: Claims.self)
        guard let parsed, parsed.header.alg == configuration.algorithm.rawValue else {
            throw Self.refusal("not a token of algorithm \(configuration.algorithm.rawValue)")
        }
        // Keys are found by no name here, whatever name the token has for its key.
        guard let claims = try? await keys.verify(token, as: Claims.self).members else {
            throw Self.refusal("bad signature")
        }
        guard case .string(let subject)? = claims["sub"], !subject.isEmpty else {
            throw Self.refusal("no subject")
        }
        try checkTimes(claims, Double(now))
        try checkAudience(claims["aud"])
        return ProvenIdentity(
            identity: Identity(id: subject, provider: .customToken, email: ""),
            data: try metadata(.object(claims))
        )
    }

    /// Clocks of other machines may be ahead by so much.
    private static let leeway: Double = 10

    private func checkTimes(
        _ claims: [String: JSONValue],
        _ now: Double
    ) throws(ServiceRefusal) {
        guard let expiry = claims["exp"]?.seconds else { throw Self.refusal("no expiry") }
        guard expiry > now else { throw Self.refusal("expired") }
        for name in ["iat", "nbf"] {
            guard let claim = claims[name] else { continue }
            guard let time = claim.seconds, time <= now + Self.leeway else {
                throw Self.refusal("\(name) lies in the future")
            }
        }
    }

    private func checkAudience(_ claim: JSONValue?) throws(ServiceRefusal) {
        let named: [String] =
            switch claim {
            case .string(let one): [one]
            case .array(let several): several.compactMap(\.text)
            default: []
            }
        let wanted = configuration.audiences.isEmpty ? [app.rawValue] : configuration.audiences
        guard named.contains(where: { wanted.contains($0) }) else {
            throw Self.refusal("not for this app")
        }
    }

    private func metadata(
        _ claims: JSONValue
    ) throws(ServiceRefusal) -> [String: JSONValue] {
        var data: [String: JSONValue] = [:]
        for field in configuration.metadata {
            let value = claims[field.name.split(separator: ".")]
            guard let value, value != .null else {
                guard !field.isRequired else { throw Self.refusal("no claim \(field.name)") }
                continue
            }
            let isText = JWTConfiguration.textFields.contains(field.fieldName)
            data[field.fieldName] = isText ? value.text.map { .string($0) } : value
        }
        return data
    }

    private static func refusal(_ reason: String) -> ServiceRefusal {
        ServiceRefusal(.authError, "invalid custom auth token: \(reason)")
    }
}
