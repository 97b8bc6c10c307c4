package import Changesets
package import Documents

/// Writes values in the JSON form that the golden vectors describe them in ("Values in JSON").
package enum VectorForm {
    package static func scalar(_ value: Scalar) -> JSONNode {
        switch value {
        case .null: .null
        case .int(let value): tagged("int", .string(Text("\(value)")))
        case .bool(let value): tagged("bool", .bool(value))
        case .string(let value): tagged("string", text(value))
        case .binary(let value): tagged("binary", hexadecimal(value))
        case .timestamp(let value):
            tagged(
                "timestamp",
                .object([
                    "s": .string(Text("\(value.seconds)")), "ns": .number("\(value.nanoseconds)"),
                ])
            )
        case .float(let value): tagged("float", bits(value.bitPattern))
        case .double(let value): tagged("double", bits(value.bitPattern))
        case .decimal(let value): tagged("decimal", decimal(value))
        case .link(let link):
            tagged("link", .object(["table": text(link.className), "key": key(link.key)]))
        case .objectID(let value): tagged("objectId", .string(Text(value.description)))
        case .uuid(let value): tagged("uuid", .string(Text(value.description)))
        }
    }

    package static func key(_ key: ObjectKey) -> JSONNode {
        switch key {
        case .null: .null
        case .int(let value): scalar(.int(value))
        case .string(let value): scalar(.string(value))
        case .objectID(let value): scalar(.objectID(value))
        case .uuid(let value): scalar(.uuid(value))
        case .globalKey(let value):
            tagged("globalKey", .array([bits(value.high), bits(value.low)]))
        }
    }

    /// Text that is not UTF-8 shows its bytes.
    package static func text(_ text: Text) -> JSONNode {
        text.string == nil
            ? .object(["bytes": hexadecimal(text.bytes)])
            : .string(text)
    }

    package static func hexadecimal(_ bytes: [UInt8]) -> JSONNode {
        .string(Text(Hexadecimal.text(of: bytes)))
    }

    static func tagged(_ name: Text, _ value: JSONNode) -> JSONNode {
        .object([name: value])
    }

    private static func bits<Bits: FixedWidthInteger & UnsignedInteger>(_ bits: Bits) -> JSONNode {
        let digits = String(bits, radix: 16)
        let padding = String(repeating: "0", count: Bits.bitWidth / 4 - digits.count)
        return .string(Text(padding + digits))
    }

    private static func decimal(_ value: Decimal128) -> JSONNode {
        let coefficient = UInt128(value.coefficientHigh) << 64 | UInt128(value.coefficientLow)
        let high = UInt128(value.high) << 64 | UInt128(value.low)
        return .object([
            "coeff": .string(Text("\(coefficient)")),
            "exp": .number("\(value.exponent)"),
            "neg": .bool(value.isNegative),
            "bid": bits(high),
        ])
    }
}

extension JSONNode {
    /// Without the parts of the vectors that are for human readers only.
    package var withoutComments: JSONNode {
        switch self {
        case .null, .bool, .number, .string:
            return self
        case .array(let elements):
            return .array(elements.map(\.withoutComments))
        case .object(var members):
            if members["bid"] != nil { members["text"] = nil }
            return .object(members.mapValues(\.withoutComments))
        }
    }
}
