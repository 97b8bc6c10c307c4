import Crypto
import JWTKit

/// All keys that an app trusts.
struct VerificationKeys: Sendable {
    private struct Key: Sendable {
        let id: String?
        let collection: JWTKeyCollection
    }

    private let keys: [Key]

    init(_ keys: [VerificationKey]) async {
        var ready: [Key] = []
        for key in keys {
            // Each in a collection of its own, so that a forged name in a token selects none.
            let collection = JWTKeyCollection()
            switch key.material {
            case .secret(let secret):
                await collection.add(hmac: HMACKey(key: secret), digestAlgorithm: .sha256)
            case .rsa(let key): await collection.add(rsa: key, digestAlgorithm: .sha256)
            case .ecdsa(let key): await collection.add(ecdsa: key)
            }
            ready.append(Key(id: key.id, collection: collection))
        }
        self.keys = ready
    }

    /// The claims of a token, if one of the keys has signed it. A token that names its key is
    /// checked against that one, and against keys without a name.
    func claims<Claims: JWTPayload>(
        of token: String,
        signedBy id: String?,
        as type: Claims.Type
    ) async -> Claims? {
        for key in keys where id == nil || key.id == nil || key.id == id {
            if let claims = try? await key.collection.verify(token, as: type) { return claims }
        }
        return nil
    }
}
