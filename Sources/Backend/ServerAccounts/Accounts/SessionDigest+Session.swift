import Crypto
import ServerStore

extension SessionDigest {
    package init(ofSession id: String) {
        self.init(bytes: Array(SHA256.hash(data: Array(id.utf8))))
    }
}
