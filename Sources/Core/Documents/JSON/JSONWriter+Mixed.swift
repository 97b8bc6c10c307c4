import Changesets

/// Extended JSON: every value carries its type (local realm, 2, "Mixed").
extension JSONWriter {
    mutating func write(mixed scalar: Scalar) {
        switch scalar {
        case .null, .int, .bool, .string:
            write(typed: scalar)
        case .binary(let value):
            write(#"{"$binary":{"base64":"#)
            write(plain: Base64.encode(value))
            write(#","subType":"00"}}"#)
        case .timestamp(let value):
            write(tag: "$date", plain: TimestampText.print(value))
        case .float(let value):
            write(tag: "$numberFloat", plain: FloatText.special(value) ?? FloatText.bytes(value))
        case .double(let value):
            write(mixed: value)
        case .decimal(let value):
            write(tag: "$numberDecimal", plain: DecimalText.print(value))
        case .link(let link):
            write(link: link)
        case .objectID(let value):
            write(tag: "$oid", plain: value.text)
        case .uuid(let value):
            write(tag: "$uuid", plain: value.text)
        }
    }

    /// Bare only where no JSON library changes the spelling: `1.0` and `1e2` become integers.
    private mutating func write(mixed value: DoubleBits) {
        let text = FloatText.special(value) ?? FloatText.bytes(value)
        let isFraction = value.value.isFinite && value.value.rounded() != value.value
        if isFraction, !text.contains(UInt8(ascii: "e")) {
            write(raw: text)
        } else {
            write(tag: "$numberDouble", plain: text)
        }
    }

    mutating func write(link: ObjectReference) {
        write(#"{"$link":{"class":"#)
        write(string: link.className.bytes)
        write(#","key":"#)
        write(link.key)
        write("}}")
    }

    mutating func write(tag: StaticString, plain text: [UInt8]) {
        write("{\"")
        write(tag)
        write("\":")
        write(plain: text)
        write("}")
    }
}
