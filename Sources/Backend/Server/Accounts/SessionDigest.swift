import Crypto

/// Identifies a log-in session without its id (app services, 14). A reader of the store cannot
/// create a token from it.
package struct SessionDigest: Hashable, Sendable {
    package let bytes: [UInt8]

    package init(ofSession id: String) {
        self.bytes = Array(SHA256.hash(data: Array(id.utf8)))
    }

    package init(bytes: [UInt8]) {
        self.bytes = bytes
    }
}
