import Changesets
import Crypto
import Surroundings

extension APIKeySecret {
    static func random(_ random: RandomSource) -> APIKeySecret {
        APIKeySecret(text: Hexadecimal.text(of: random.bytes(32)))
    }

    /// Identifies the key in the store. The secret has enough entropy for a plain digest.
    var digest: [UInt8] { Array(SHA256.hash(data: Array(text.utf8))) }
}
