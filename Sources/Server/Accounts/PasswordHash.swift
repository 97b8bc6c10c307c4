import CCrypt
import Glibc

/// A yescrypt hash with its salt and cost, in the usual text form.
package struct PasswordHash: Hashable, Sendable {
    package let text: String

    package init(text: String) {
        self.text = text
    }
}

extension PasswordHash: CustomStringConvertible, CustomReflectable {
    package var description: String { "<redacted>" }
    package var customMirror: Mirror { Mirror(self, children: [:]) }
}

/// Makes and checks password hashes, one at a time: each costs tens of milliseconds of a processor,
/// and a flood of log-ins must not take more than one.
package actor PasswordHasher {
    /// The system's libcrypt would not hash.
    package struct Failure: Error, Sendable {}

    private let cost: UInt
    /// What a log-in without an account is checked against, so that it takes as long as any other.
    private var decoy: PasswordHash?

    /// `cost` 1 ... 11; 5 is the library's default, lower only for tests.
    package init(cost: UInt = 5) {
        self.cost = cost
    }

    package func hash(_ password: String) throws(Failure) -> PasswordHash {
        guard let setting = crypt_gensalt_ra("$y$", cost, nil, 0) else { throw Failure() }
        defer { free(setting) }
        return PasswordHash(text: try crypt(password, String(cString: setting)))
    }

    /// Whether the password belongs to the hash. Without a hash the answer is no, after as much work.
    package func verify(_ password: String, against hash: PasswordHash?) throws(Failure) -> Bool {
        if let hash, Self.canHash(password) {
            return isEqual(try crypt(password, hash.text), hash.text)
        }
        let setting = if let decoy { decoy } else { try self.hash("") }
        decoy = setting
        _ = try crypt("", setting.text)
        return false
    }

    /// libcrypt takes up to 511 bytes, and its strings end at the first NUL.
    package static func canHash(_ password: String) -> Bool {
        password.utf8.count < 512 && !password.utf8.contains(0)
    }

    private func crypt(_ password: String, _ setting: String) throws(Failure) -> String {
        var scratch: UnsafeMutableRawPointer?
        var size: Int32 = 0
        defer {
            // It holds traces of the password.
            if let scratch { explicit_bzero(scratch, Int(size)) }
            free(scratch)
        }
        guard let result = crypt_ra(password, setting, &scratch, &size) else { throw Failure() }
        let text = String(cString: result)
        guard !text.hasPrefix("*") else { throw Failure() }
        return text
    }

    /// In a time that does not depend on where the texts differ.
    private func isEqual(_ left: String, _ right: String) -> Bool {
        let (left, right) = (Array(left.utf8), Array(right.utf8))
        guard left.count == right.count else { return false }
        return zip(left, right).reduce(0) { $0 | ($1.0 ^ $1.1) } == 0
    }
}
