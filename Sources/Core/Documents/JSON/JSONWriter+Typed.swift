import Changesets

extension JSONWriter {
    /// A value whose type is in the schema.
    mutating func write(typed scalar: Scalar) {
        switch scalar {
        case .null: write("null")
        case .int(let value): write(value)
        case .bool(let value): write(value ? "true" : "false")
        case .string(let value): write(text: value)
        case .binary(let value): write(plain: Base64.encode(value))
        case .timestamp(let value): write(plain: TimestampText.print(value))
        case .float(let value):
            if let special = FloatText.special(value) {
                write(tag: "$numberFloat", plain: special)
            } else {
                write(raw: FloatText.print(value))
            }
        case .double(let value):
            if let special = FloatText.special(value) {
                write(tag: "$numberDouble", plain: special)
            } else {
                write(raw: FloatText.print(value))
            }
        case .decimal(let value): write(plain: DecimalText.print(value))
        case .link(let link):
            if link.key == .null {
                write(link: link)
            } else {
                write(link.key)
            }
        case .objectID(let value): write(plain: value.text)
        case .uuid(let value): write(plain: value.text)
        }
    }

    mutating func write(_ key: ObjectKey) {
        switch key {
        case .null: write("null")
        case .int(let value): write(value)
        case .string(let value): write(text: value)
        case .objectID(let value): write(plain: value.text)
        case .uuid(let value): write(plain: value.text)
        case .globalKey(let value): write(plain: GlobalKeyText.print(value))
        }
    }

    /// A string, or its bytes if a JSON string would not be portable.
    mutating func write(text: Text) {
        if text.isPortable {
            write(string: text.bytes)
        } else {
            write(#"{"$string":{"base64":"#)
            write(plain: Base64.encode(text.bytes))
            write("}}")
        }
    }

    /// The name of a dictionary's member; one that is not portable gets a prefix that no dictionary
    /// key can have.
    mutating func write(dictionaryKey key: Text) {
        if key.isPortable {
            write(string: key.bytes)
        } else {
            write(plain: DictionaryKeyText.prefix + Base64.encode(key.bytes))
        }
    }
}

extension Text {
    /// SQL functions end a string at U+0000, jsonb refuses it, and both require UTF-8.
    fileprivate var isPortable: Bool {
        !bytes.contains(0) && UTF8Validation.isValid(bytes)
    }
}
