import Changesets

/// The meaning of an object with one `$` member.
enum TaggedValue {
    case scalar(Scalar)
    /// The class determines the type of the key.
    case link(className: Text, key: JSONKey)
}

enum ExtendedJSON {
    static func isTag(_ name: Text) -> Bool {
        name.bytes.first == UInt8(ascii: "$") && !DictionaryKeyText.isPrefixed(name)
    }
}

// MARK: Tags

extension JSONReader {
    /// An object that is one tagged value.
    mutating func readTagged() throws(FormError) -> TaggedValue {
        var result: (tag: Text, value: TaggedValue)?
        try readObject { (reader, name) throws(FormError) in
            if let result, result.tag != name { throw FormError(.illegalKey(name)) }
            result = (name, try reader.readTaggedValue(name))
        }
        guard let result else { throw FormError(.expected(.taggedValue)) }
        return result.value
    }

    /// The value after the tag.
    mutating func readTaggedValue(_ tag: Text) throws(FormError) -> TaggedValue {
        switch tag {
        case "$numberInt", "$numberLong":
            return .scalar(.int(try readIntegerText()))
        case "$numberDouble":
            return .scalar(.double(try Self.double(try readNumberText())))
        case "$numberFloat":
            return .scalar(.float(try Self.float(try readNumberText())))
        case "$numberDecimal":
            return .scalar(.decimal(try DecimalText.parse(try readNumberText()[...])))
        case "$oid":
            return .scalar(.objectID(try Self.objectID(try readString(as: .objectID))))
        case "$uuid":
            return .scalar(.uuid(try Self.uuid(try readString(as: .uuid))))
        case "$date":
            return .scalar(.timestamp(try readDate()))
        case "$binary":
            return .scalar(try readBinary())
        case "$string":
            return .scalar(.string(try readStringBytes()))
        case "$link":
            return try readLink()
        default:
            throw FormError(.unknownTag(tag))
        }
    }

    private mutating func readIntegerText() throws(FormError) -> Int64 {
        if try peek() == .number { return try readInteger() }
        let text = try readString(as: .integer)
        guard let value = Int64(String(decoding: text, as: UTF8.self)) else {
            throw FormError(.expected(.integer))
        }
        return value
    }

    private mutating func readNumberText() throws(FormError) -> [UInt8] {
        if try peek() == .number { return Array(try readNumber().text.utf8) }
        return try readString(as: .jsonNumber)
    }

    /// The text form, or the milliseconds of canonical Extended JSON.
    private mutating func readDate() throws(FormError) -> Timestamp {
        guard try peek() == .object else {
            return try Self.timestamp(try readString(as: .timestamp))
        }
        guard case .scalar(.int(let milliseconds)) = try readTagged(),
            let value = Timestamp(
                seconds: milliseconds / 1000,
                nanoseconds: milliseconds % 1000 * 1_000_000
            )
        else { throw FormError(.expected(.timestamp)) }
        return value
    }

    private mutating func readBinary() throws(FormError) -> Scalar {
        var bytes: [UInt8]?
        var subtype: [UInt8] = Array("00".utf8)
        try expect(.object, .base64)
        try readObject { (reader, name) throws(FormError) in
            switch name {
            case "base64": bytes = try reader.readBase64()
            case "subType": subtype = try reader.readString(as: .binarySubtype)
            default: throw FormError(.illegalKey(name))
            }
        }
        guard let bytes else { throw FormError(.expected(.base64)) }
        switch subtype {
        case Array("00".utf8), Array("0".utf8):
            return .binary(bytes)
        case Array("04".utf8), Array("4".utf8):
            guard let uuid = UniqueID(bytes: bytes) else { throw FormError(.expected(.uuid)) }
            return .uuid(uuid)
        default:
            throw FormError(.expected(.binarySubtype))
        }
    }

    private mutating func readStringBytes() throws(FormError) -> Text {
        var bytes: [UInt8]?
        try expect(.object, .base64)
        try readObject { (reader, name) throws(FormError) in
            guard name == "base64" else { throw FormError(.illegalKey(name)) }
            bytes = try reader.readBase64()
        }
        guard let bytes else { throw FormError(.expected(.base64)) }
        return try Self.text(bytes)
    }

    private mutating func readLink() throws(FormError) -> TaggedValue {
        var className: Text?
        var key: JSONKey?
        try expect(.object, .taggedLink)
        try readObject { (reader, name) throws(FormError) in
            switch name {
            case "class": className = Text(bytes: try reader.readString(as: .text))
            case "key": key = try reader.readKey()
            default: throw FormError(.illegalKey(name))
            }
        }
        guard let className, let key else { throw FormError(.expected(.taggedLink)) }
        return .link(className: className, key: key)
    }
}
