import Changesets
import Schemas

/// Values whose type is in the schema.
extension JSONReader {
    /// Throws the required form if the next value is of another kind.
    mutating func expect(_ kind: Kind, _ form: ValueForm) throws(FormError) {
        guard try peek() == kind else { throw FormError(.expected(form)) }
    }

    mutating func readScalar(_ type: ScalarType) throws(FormError) -> Scalar {
        switch type {
        case .int:
            return .int(try readInteger())
        case .bool:
            try expect(.bool, .jsonBool)
            return .bool(try readBool())
        case .string:
            return .string(try readText())
        case .binary:
            return .binary(try readBase64())
        case .timestamp:
            return .timestamp(try Self.timestamp(try readString(as: .timestamp)))
        case .double:
            return .double(try readDouble())
        case .float:
            return .float(try readFloat())
        case .decimal:
            return .decimal(try DecimalText.parse(try readString(as: .decimal)[...]))
        case .objectID:
            return .objectID(try Self.objectID(try readString(as: .objectID)))
        case .uuid:
            return .uuid(try Self.uuid(try readString(as: .uuid)))
        }
    }

    mutating func readInteger() throws(FormError) -> Int64 {
        try expect(.number, .integer)
        let number = try readNumber()
        guard number.isInteger, let value = Int64(number.text) else {
            throw FormError(.expected(.integer))
        }
        return value
    }

    private mutating func readText() throws(FormError) -> Text {
        if try peek() == .object {
            guard case .scalar(.string(let text)) = try readTagged() else {
                throw FormError(.expected(.text))
            }
            return text
        }
        return try Self.text(try readString(as: .text))
    }

    private mutating func readDouble() throws(FormError) -> DoubleBits {
        switch try peek() {
        case .number:
            return try Self.double(Array(try readNumber().text.utf8))
        case .object:
            guard case .scalar(.double(let value)) = try readTagged() else {
                throw FormError(.expected(.jsonNumber))
            }
            return value
        case .null, .bool, .string, .array:
            throw FormError(.expected(.jsonNumber))
        }
    }

    private mutating func readFloat() throws(FormError) -> FloatBits {
        switch try peek() {
        case .number:
            return try Self.float(Array(try readNumber().text.utf8))
        case .object:
            guard case .scalar(.float(let value)) = try readTagged() else {
                throw FormError(.expected(.jsonNumber))
            }
            return value
        case .null, .bool, .string, .array:
            throw FormError(.expected(.jsonNumber))
        }
    }

    mutating func readBase64() throws(FormError) -> [UInt8] {
        guard let bytes = Base64.decode(try readString(as: .base64)) else {
            throw FormError(.expected(.base64))
        }
        guard bytes.count <= FormatLimits.binarySizeInBytes else {
            throw FormError(.binaryTooLong(sizeInBytes: bytes.count))
        }
        return bytes
    }

    mutating func readString(as form: ValueForm) throws(FormError) -> [UInt8] {
        try expect(.string, form)
        return try readString()
    }
}

// MARK: Texts of typed values

extension JSONReader {
    static func text(_ bytes: [UInt8]) throws(FormError) -> Text {
        guard bytes.count <= FormatLimits.stringSizeInBytes else {
            throw FormError(.stringTooLong(sizeInBytes: bytes.count))
        }
        return Text(bytes: bytes)
    }

    static func timestamp(_ text: [UInt8]) throws(FormError) -> Timestamp {
        guard let value = TimestampText.parse(text[...]) else {
            throw FormError(.expected(.timestamp))
        }
        return value
    }

    static func double(_ text: [UInt8]) throws(FormError) -> DoubleBits {
        guard let value = FloatText.parseDouble(text) else {
            throw FormError(.expected(.jsonNumber))
        }
        return value
    }

    static func float(_ text: [UInt8]) throws(FormError) -> FloatBits {
        guard let value = FloatText.parseFloat(text) else {
            throw FormError(.expected(.jsonNumber))
        }
        return value
    }

    static func objectID(_ text: [UInt8]) throws(FormError) -> ObjectID {
        guard let value = ObjectID(String(decoding: text, as: UTF8.self)) else {
            throw FormError(.expected(.objectID))
        }
        return value
    }

    static func uuid(_ text: [UInt8]) throws(FormError) -> UniqueID {
        guard let value = UniqueID(String(decoding: text, as: UTF8.self)) else {
            throw FormError(.expected(.uuid))
        }
        return value
    }
}
