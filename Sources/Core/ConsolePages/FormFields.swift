/// The fields of a query or of a form (`application/x-www-form-urlencoded`).
package struct FormFields: Hashable, Sendable {
    private var values: [String: String] = [:]

    /// Of two fields with one name the first counts. Nil if an escape is not one, or if the bytes are
    /// not UTF-8.
    package init?(_ text: String) {
        for field in text.utf8.split(separator: UInt8(ascii: "&")) {
            let name = field.prefix { $0 != UInt8(ascii: "=") }
            guard let decodedName = Self.decoded(name),
                let value = Self.decoded(field[name.endIndex...].dropFirst())
            else { return nil }
            if values[decodedName] == nil { values[decodedName] = value }
        }
    }

    package subscript(_ name: String) -> String? { values[name] }

    private static func decoded(_ bytes: Substring.UTF8View) -> String? {
        var out: [UInt8] = []
        var rest = bytes
        while let byte = rest.popFirst() {
            switch byte {
            case UInt8(ascii: "+"):
                out.append(UInt8(ascii: " "))
            case UInt8(ascii: "%"):
                guard let high = rest.popFirst().flatMap(Self.digit),
                    let low = rest.popFirst().flatMap(Self.digit)
                else { return nil }
                out.append(high << 4 | low)
            default:
                out.append(byte)
            }
        }
        return String(validating: out, as: UTF8.self)
    }

    private static func digit(_ byte: UInt8) -> UInt8? {
        switch byte {
        case UInt8(ascii: "0")...UInt8(ascii: "9"): byte - UInt8(ascii: "0")
        case UInt8(ascii: "A")...UInt8(ascii: "F"): byte - UInt8(ascii: "A") + 10
        case UInt8(ascii: "a")...UInt8(ascii: "f"): byte - UInt8(ascii: "a") + 10
        default: nil
        }
    }

    /// A value for a query.
    package static func encoded(_ value: String) -> String {
        let digits = Array("0123456789ABCDEF")
        return value.utf8.reduce(into: "") { text, byte in
            if Identifier.isPlain(byte) {
                text.unicodeScalars.append(Unicode.Scalar(byte))
            } else {
                text += "%\(digits[Int(byte >> 4)])\(digits[Int(byte & 15)])"
            }
        }
    }
}

/// Texts that may become a segment of a path as they are.
enum Identifier {
    static func isPlain(_ byte: UInt8) -> Bool {
        switch byte {
        case UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
            UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "_"), UInt8(ascii: "-"):
            true
        default: false
        }
    }

    static func isValid(_ text: String) -> Bool {
        !text.isEmpty && text.utf8.count <= 256 && text.utf8.allSatisfy(isPlain)
    }
}
