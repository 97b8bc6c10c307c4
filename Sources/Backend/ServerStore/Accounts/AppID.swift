/// The client app id: names an app in paths and tokens (app services, 1).
///
/// URLs contain it without escaping, so only letters, digits, `_` and `-` are allowed.
package struct AppID: Hashable, Sendable {
    package let rawValue: String

    /// Nil for a name that a path cannot contain.
    package init?(_ rawValue: String) {
        let isValid = rawValue.utf8.allSatisfy { character in
            switch character {
            case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
                UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "_"), UInt8(ascii: "-"):
                true
            default: false
            }
        }
        guard isValid, !rawValue.isEmpty, rawValue.utf8.count <= 128 else { return nil }
        self.rawValue = rawValue
    }
}

extension AppID: CustomStringConvertible {
    package var description: String { rawValue }
}
