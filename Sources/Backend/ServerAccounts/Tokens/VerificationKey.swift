import Crypto
import FoundationEssentials
import JWTKit
import ServerConfig

/// A third party's key that may have signed a token (app services, 10.6).
struct VerificationKey: Sendable {
    /// Its name in tokens (`kid`); nil if keys have none.
    let id: String?
    let material: Material

    enum Material: Sendable {
        case secret(SymmetricKey)
        case rsa(JWTKit.Insecure.RSA.PublicKey)
        case ecdsa(ES256PublicKey)
    }

    var isSecret: Bool {
        if case .secret = material { true } else { false }
    }

    /// The text is not a valid key.
    struct Unusable: Error, CustomStringConvertible {
        let description: String
    }

    private static let minimumSecretLength = 32
    /// More keys mean another kind of file, or slow down every log-in.
    private static let maximumCount = 100

    /// One key: a secret of HS256, else a public key as PEM.
    init(text: String, for algorithm: JWTConfiguration.Algorithm) throws(Unusable) {
        self.id = nil
        do {
            switch algorithm {
            case .hs256:
                guard text.utf8.count >= Self.minimumSecretLength else {
                    throw Unusable(description: "it has less than 32 characters")
                }
                self.material = .secret(SymmetricKey(data: Data(text.utf8)))
            case .rs256: self.material = .rsa(try JWTKit.Insecure.RSA.PublicKey(pem: text))
            case .es256: self.material = .ecdsa(try ES256PublicKey(pem: text))
            }
        } catch let error as Unusable {
            throw error
        } catch {
            throw Unusable(description: "it is not a public key in PEM for \(algorithm.rawValue)")
        }
    }

    private init(id: String?, _ material: Material) {
        self.id = id
        self.material = material
    }
}

// MARK: Key sets

extension VerificationKey {
    private struct Document: Decodable {
        let keys: [Entry]

        struct Entry: Decodable {
            let kty: String
            let kid: String?
            let alg: String?
            let use: String?
            let crv: String?
            let n: String?
            let e: String?
            let x: String?
            let y: String?
            let k: String?
        }
    }

    /// The keys of a JSON Web Key Set (RFC 7517) for the algorithm; others are skipped.
    static func keySet(
        _ text: String,
        for algorithm: JWTConfiguration.Algorithm
    ) throws(Unusable) -> [VerificationKey] {
        guard
            let document = try? JSONDecoder().decode(Document.self, from: Data(text.utf8))
        else {
            throw Unusable(description: "it is not a JSON Web Key Set: an object with \"keys\"")
        }
        let entries = document.keys.filter { entry in
            entry.kty == algorithm.keyType && entry.use ?? "sig" == "sig"
                && entry.alg ?? algorithm.rawValue == algorithm.rawValue
        }
        guard !entries.isEmpty else {
            throw Unusable(
                description: "it has no key for \(algorithm.rawValue) among \(document.keys.count)"
            )
        }
        guard entries.count <= maximumCount else {
            throw Unusable(description: "it has more than \(maximumCount) keys")
        }
        var keys: [VerificationKey] = []
        for (index, entry) in entries.enumerated() {
            guard let material = material(of: entry, algorithm) else {
                let name = entry.kid.map { "\"\($0)\"" } ?? "number \(index + 1)"
                throw Unusable(description: "its key \(name) is damaged, or too short")
            }
            keys.append(VerificationKey(id: entry.kid, material))
        }
        return keys
    }

    private static func material(
        of entry: Document.Entry,
        _ algorithm: JWTConfiguration.Algorithm
    ) -> Material? {
        switch algorithm {
        case .hs256:
            guard let secret = entry.k.flatMap(bytes(ofBase64URL:)),
                secret.count >= minimumSecretLength
            else { return nil }
            return .secret(SymmetricKey(data: secret))
        case .rs256:
            guard let modulus = entry.n, let exponent = entry.e,
                let key = try? JWTKit.Insecure.RSA.PublicKey(modulus: modulus, exponent: exponent)
            else { return nil }
            return .rsa(key)
        case .es256:
            guard entry.crv == "P-256", let x = entry.x, let y = entry.y,
                let key = try? ES256PublicKey(parameters: (x: x, y: y))
            else { return nil }
            return .ecdsa(key)
        }
    }

    private static func bytes(ofBase64URL text: String) -> Data? {
        let standard = text.replacing("-", with: "+").replacing("_", with: "/")
        let padding = String(repeating: "=", count: (4 - standard.utf8.count % 4) % 4)
        return Data(base64Encoded: standard + padding)
    }
}

extension JWTConfiguration.Algorithm {
    /// The key type in key sets.
    fileprivate var keyType: String {
        switch self {
        case .hs256: "oct"
        case .rs256: "RSA"
        case .es256: "EC"
        }
    }
}
