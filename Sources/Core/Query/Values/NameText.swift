import Changesets

/// Property names in the text of a query (flexible sync, 12.1, identifiers).
enum NameText {
    /// Blank, tab, CR and LF after a backslash are those characters.
    static func unescaped(_ bytes: ArraySlice<UInt8>) -> Text {
        guard bytes.contains(UInt8(ascii: "\\")) else { return Text(bytes: Array(bytes)) }
        var name: [UInt8] = []
        var isEscaped = false
        for byte in bytes {
            if isEscaped {
                switch byte {
                case UInt8(ascii: "n"): name.append(UInt8(ascii: "\n"))
                case UInt8(ascii: "r"): name.append(UInt8(ascii: "\r"))
                case UInt8(ascii: "t"): name.append(UInt8(ascii: "\t"))
                default: name.append(byte)
                }
                isEscaped = false
            } else if byte == UInt8(ascii: "\\") {
                isEscaped = true
            } else {
                name.append(byte)
            }
        }
        return Text(bytes: name)
    }

    static func escaped(_ name: Text) -> [UInt8] {
        var bytes: [UInt8] = []
        for byte in name.bytes {
            switch byte {
            case UInt8(ascii: " "): bytes += Array("\\ ".utf8)
            case UInt8(ascii: "\n"): bytes += Array("\\n".utf8)
            case UInt8(ascii: "\r"): bytes += Array("\\r".utf8)
            case UInt8(ascii: "\t"): bytes += Array("\\t".utf8)
            default: bytes.append(byte)
            }
        }
        return bytes
    }
}
