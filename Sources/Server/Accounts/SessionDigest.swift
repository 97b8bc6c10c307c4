import Crypto

/// Finds a log-in session without giving its id away: whoever reads the store cannot make a token of
/// what is in it (app services, 14).
package struct SessionDigest: Hashable, Sendable {
    package let bytes: [UInt8]

    package init(ofSession id: String) {
        self.bytes = Array(SHA256.hash(data: Array(id.utf8)))
    }

    package init(bytes: [UInt8]) {
        self.bytes = bytes
    }
}
