import Changesets
import Crypto

/// A key that logs a machine in (app services, 7.5). The key itself is shown once and never kept.
package struct APIKey: Hashable, Sendable {
    /// 24 hexadecimal digits.
    package let id: String
    /// Nil for a key of the operator: its first use creates its user.
    package let owner: UserID?
    package let name: String
    package let isDisabled: Bool

    package init(id: String, owner: UserID?, name: String, isDisabled: Bool = false) {
        self.id = id
        self.owner = owner
        self.name = name
        self.isDisabled = isDisabled
    }

    /// 1 to 100 letters, digits, `_` and `-`.
    static func isName(_ text: String) -> Bool {
        1...100 ~= text.utf8.count
            && text.utf8.allSatisfy { byte in
                switch byte {
                case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
                    UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "_"), UInt8(ascii: "-"):
                    true
                default: false
                }
            }
    }
}

/// The secret of an API key.
package struct APIKeySecret: Sendable {
    let text: String

    static func random(_ random: RandomSource) -> APIKeySecret {
        APIKeySecret(text: Hexadecimal.text(of: random.bytes(32)))
    }

    /// Identifies the key in the store. The secret has enough entropy for a plain digest.
    var digest: [UInt8] { Array(SHA256.hash(data: Array(text.utf8))) }
}

extension APIKeySecret: CustomStringConvertible, CustomReflectable {
    package var description: String { "<redacted>" }
    package var customMirror: Mirror { Mirror(self, children: [:]) }
}
