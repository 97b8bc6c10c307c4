import Changesets
import Schemas

/// Reading Extended JSON, in which values carry their types (local realm, 2, "Mixed").
extension JSONForm {
    /// `level` counts the collections around the value.
    func readMixed(level: Int, from reader: inout JSONReader) throws(FormError) -> Value {
        switch try reader.peek() {
        case .null:
            try reader.readNull()
            return .null
        case .bool:
            return .scalar(.bool(try reader.readBool()))
        case .string:
            return .scalar(.string(try JSONReader.text(try reader.readString())))
        case .number:
            let number = try reader.readNumber()
            guard number.isInteger else {
                return .scalar(.double(try JSONReader.double(Array(number.text.utf8))))
            }
            guard let value = Int64(number.text) else { throw FormError(.expected(.integer)) }
            return .scalar(.int(value))
        case .array:
            try checkLevel(level)
            return .list(
                try readElements(from: &reader) { (reader) throws(FormError) in
                    try readMixed(level: level + 1, from: &reader)
                }
            )
        case .object:
            return try readMixedObject(level: level, from: &reader)
        }
    }

    /// A dictionary, or a tagged value: dictionary keys never start with `$`.
    private func readMixedObject(
        level: Int,
        from reader: inout JSONReader
    ) throws(FormError) -> Value {
        var members: [Text: Value] = [:]
        var tagged: (tag: Text, value: Value)?
        try reader.readObject { (reader, name) throws(FormError) in
            if let tagged, tagged.tag != name { throw FormError(.illegalKey(name)) }
            if members.isEmpty, ExtendedJSON.isTag(name) {
                let value = try reader.readTaggedValue(name)
                tagged = (name, .scalar(try resolve(value)))
                return
            }
            try checkLevel(level)
            let key = try DictionaryKeyText.parse(name)
            members[key] = try inside(.key(key)) { () throws(FormError) in
                try readMixed(level: level + 1, from: &reader)
            }
        }
        if let tagged { return tagged.value }
        try checkLevel(level)
        return .dictionary(members)
    }

    private func checkLevel(_ level: Int) throws(FormError) {
        guard level < FormatLimits.nestingDepth else { throw FormError(.nestedTooDeeply) }
    }

    private func resolve(_ tagged: TaggedValue) throws(FormError) -> Scalar {
        switch tagged {
        case .scalar(let scalar):
            return scalar
        case .link(let className, let key):
            guard case .topLevel(let keySchema) = schema[className]?.kind else {
                throw FormError(.unknownClass(className))
            }
            return .link(
                ObjectReference(className: className, key: try key.objectKey(keySchema))
            )
        }
    }
}
