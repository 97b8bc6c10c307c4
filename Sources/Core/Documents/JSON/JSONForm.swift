package import Changesets
package import Schemas

/// Converts between values and JSON in columns and documents (local realm, 2 and 11).
///
/// Encoding writes the one canonical form; decoding accepts every equivalent form, in any order. An
/// encoded value decodes to the same bits, even if a JSON library or jsonb has changed white space
/// and order in between.
package struct JSONForm: Sendable {
    let schema: RealmSchema

    package init(schema: RealmSchema) {
        self.schema = schema
    }

    /// The JSON of a property's value, which must fit the property.
    package func encode(_ value: Value, of property: PropertySchema) -> [UInt8] {
        var writer = JSONWriter()
        write(value, elementType(of: property), to: &writer)
        return writer.bytes
    }

    package func decode(
        _ json: [UInt8],
        of property: PropertySchema
    ) throws(FormError) -> Value {
        try JSONReader.read(json) { (reader) throws(FormError) in
            try readProperty(property, from: &reader)
        }
    }

    /// A whole object: its primary key, if its class has one, then every property in schema order.
    package func encode(
        _ document: Document,
        key: ObjectKey,
        of owner: ClassSchema
    ) -> [UInt8] {
        var writer = JSONWriter()
        writer.write("{")
        var isFirst = true
        if let primaryKey = owner.primaryKey, primaryKey.type != .globalKey {
            isFirst = false
            writer.write(string: primaryKey.name.bytes)
            writer.write(":")
            writer.write(key)
        }
        writeMembers(document, of: owner, isFirst: isFirst, to: &writer)
        writer.write("}")
        return writer.bytes
    }

    /// Reads a whole object. The primary key is skipped, since the caller found the object by it.
    package func decodeDocument(
        _ json: [UInt8],
        of owner: ClassSchema
    ) throws(FormError) -> Document {
        try JSONReader.read(json) { (reader) throws(FormError) in
            try readDocument(of: owner, from: &reader)
        }
    }

    /// Reads the members that an object's JSON has, by their positions among the properties, and
    /// its primary key if present. Missing members are left out of the result.
    package func decodeMembers(
        _ json: [UInt8],
        of owner: ClassSchema
    ) throws(FormError) -> (key: ObjectKey?, values: [Int: Value]) {
        try JSONReader.read(json) { (reader) throws(FormError) in
            try readMembers(of: owner, from: &reader)
        }
    }

    /// Some properties of an object, by their positions, in the form that `decodeMembers` reads.
    package func encodeMembers(_ values: [Int: Value], of owner: ClassSchema) -> [UInt8] {
        var writer = JSONWriter()
        writer.write("{")
        for (place, member) in values.sorted(by: { $0.key < $1.key }).enumerated() {
            let property = owner.properties[member.key]
            if place > 0 { writer.write(",") }
            writer.write(string: property.name.bytes)
            writer.write(":")
            write(member.value, elementType(of: property), to: &writer)
        }
        writer.write("}")
        return writer.bytes
    }

    /// The members of any JSON object, each as raw JSON; of equal names the last counts.
    package static func members(of json: [UInt8]) throws(FormError) -> [Text: [UInt8]] {
        try JSONReader.read(json) { (reader) throws(FormError) in
            var members: [Text: [UInt8]] = [:]
            try reader.expect(.object, .jsonObject)
            try reader.readObject { (reader, name) throws(FormError) in
                // After the white space in front of the value.
                _ = try reader.peek()
                let start = reader.offset
                _ = try reader.readNode()
                members[name] = Array(json[start..<reader.offset])
            }
            return members
        }
    }

    /// A text as a JSON string.
    package static func string(_ text: Text) -> [UInt8] {
        var writer = JSONWriter()
        writer.write(string: text.bytes)
        return writer.bytes
    }

    func elementType(of property: PropertySchema) -> ElementType {
        guard let type = schema.elementType(of: property) else {
            preconditionFailure("a property links to a class that is not in the schema")
        }
        return type
    }
}
