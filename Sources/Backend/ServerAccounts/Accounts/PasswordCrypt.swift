import CCrypt
import Glibc
import ServerStore
import Synchronization

/// libcrypt's yescrypt; each call blocks its thread for tens of milliseconds.
final class PasswordCrypt: Sendable {
    private typealias Failure = PasswordHasher.Failure

    private let cost: UInt
    /// A hash for log-ins without an account, so that they take as long as others.
    private let decoy = Mutex<PasswordHash?>(nil)

    init(cost: UInt) {
        self.cost = cost
    }

    func hash(_ password: String) throws -> PasswordHash {
        guard let setting = crypt_gensalt_ra("$y$", cost, nil, 0) else { throw Failure() }
        defer { free(setting) }
        return PasswordHash(text: try crypt(password, String(cString: setting)))
    }

    func verify(_ password: String, against hash: PasswordHash?) throws -> Bool {
        if let hash, hash != .unusable, Self.canHash(password) {
            return isEqual(try crypt(password, hash.text), hash.text)
        }
        let setting =
            if let decoy = decoy.withLock({ $0 }) { decoy } else { try self.hash("") }
        decoy.withLock { $0 = setting }
        _ = try crypt("", setting.text)
        return false
    }

    /// libcrypt takes up to 511 bytes, and its strings end at the first NUL.
    static func canHash(_ password: String) -> Bool {
        password.utf8.count < 512 && !password.utf8.contains(0)
    }

    private func crypt(_ password: String, _ setting: String) throws -> String {
        var scratch: UnsafeMutableRawPointer?
        var size: Int32 = 0
        defer {
            // The memory holds traces of the password.
            if let scratch { explicit_bzero(scratch, Int(size)) }
            free(scratch)
        }
        guard let result = crypt_ra(password, setting, &scratch, &size) else { throw Failure() }
        let text = String(cString: result)
        guard !text.hasPrefix("*") else { throw Failure() }
        return text
    }

    /// Compares in a time that does not depend on the first difference.
    private func isEqual(_ left: String, _ right: String) -> Bool {
        let (left, right) = (Array(left.utf8), Array(right.utf8))
        guard left.count == right.count else { return false }
        return zip(left, right).reduce(0) { $0 | ($1.0 ^ $1.1) } == 0
    }
}
