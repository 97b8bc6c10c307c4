import ServerStore

/// The secret of an API key.
package struct APIKeySecret: Sendable {
    package let text: String

    package init(text: String) {
        self.text = text
    }
}

extension APIKeySecret: CustomStringConvertible, CustomReflectable {
    package var description: String { "<redacted>" }
    package var customMirror: Mirror { Mirror(self, children: [:]) }
}

extension APIKey {
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
