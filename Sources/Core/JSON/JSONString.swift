/// A string spelled as JSON, in quotes.
package enum JSONString {
    /// The spelling of characters that must be escaped.
    package enum Escapes: Sendable {
        /// The short form if JSON has one, such as `\n`; else `\u001f`.
        case short
        /// Always the form `\u000a`.
        case numeric
        /// The same, also for characters that YAML does not allow between double quotes.
        case numericForYAML
    }

    package static func quoted(_ text: String, _ escapes: Escapes = .short) -> String {
        var quoted = "\""
        for scalar in text.unicodeScalars {
            if let escape = escape(scalar.value, escapes) {
                quoted += escape
            } else {
                quoted.unicodeScalars.append(scalar)
            }
        }
        return quoted + "\""
    }

    /// Appends the string with that UTF-8, with short escapes.
    package static func append(_ text: [UInt8], to bytes: inout [UInt8]) {
        let quote = UInt8(ascii: "\"")
        bytes.append(quote)
        if text.contains(where: { $0 < 0x20 || $0 == quote || $0 == UInt8(ascii: "\\") }) {
            for byte in text {
                if let escape = escape(UInt32(byte), .short) {
                    bytes.append(contentsOf: escape.utf8)
                } else {
                    bytes.append(byte)
                }
            }
        } else {
            bytes.append(contentsOf: text)
        }
        bytes.append(quote)
    }

    private static func escape(_ character: UInt32, _ escapes: Escapes) -> String? {
        switch character {
        case 0x22: "\\\""
        case 0x5c: "\\\\"
        case 0x08 where escapes == .short: "\\b"
        case 0x09 where escapes == .short: "\\t"
        case 0x0a where escapes == .short: "\\n"
        case 0x0c where escapes == .short: "\\f"
        case 0x0d where escapes == .short: "\\r"
        case 0..<0x20: numeric(character)
        case 0x7f...0x9f, 0x2028, 0x2029: escapes == .numericForYAML ? numeric(character) : nil
        default: nil
        }
    }

    private static func numeric(_ character: UInt32) -> String {
        let digits = String(character, radix: 16)
        return "\\u" + String(repeating: "0", count: 4 - digits.count) + digits
    }
}
