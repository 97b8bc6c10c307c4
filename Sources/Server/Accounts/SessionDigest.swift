import Crypto

/// Identifies a log-in session without its id: a reader of the store cannot create a token from it
/// (app services, 14).
package struct SessionDigest: Hashable, Sendable {
    package let bytes: [UInt8]

    package init(ofSession id: String) {
        self.bytes = Array(SHA256.hash(data: Array(id.utf8)))
    }

    package init(bytes: [UInt8]) {
        self.bytes = bytes
    }
}
