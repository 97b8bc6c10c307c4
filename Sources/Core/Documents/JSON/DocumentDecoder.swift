import Changesets
package import Schemas

/// Reads the documents of one class. What `DocumentEncoder` wrote is compared with the same prepared text, so
/// that no name is looked up; every other form is left to `JSONForm.decodeDocument`.
///
/// 4.0 -> 1.0 us of CPU for a document of ten properties.
package struct DocumentDecoder: Sendable {
    package let owner: ClassSchema
    private let form: JSONForm
    private let keyOpening: [UInt8]?
    let members: [Member]

    struct Member {
        /// The text in front of the value.
        let opening: [UInt8]
        let property: PropertySchema
        /// Of properties with one value of a type without links or structure.
        let scalar: ScalarType?
        let acceptsNull: Bool
    }

    package init(of owner: ClassSchema, _ form: JSONForm) {
        self.owner = owner
        self.form = form
        self.keyOpening = form.keyOpening(of: owner)
        self.members = owner.properties.enumerated().map { position, property in
            var scalar: ScalarType?
            if property.collection == .single,
                case .scalar(let type) = form.elementType(of: property)
            {
                scalar = type
            }
            return Member(
                opening: form.opening(of: position, of: owner),
                property: property,
                scalar: scalar,
                acceptsNull: property.acceptsNull
            )
        }
    }

    /// The same as `JSONForm.decodeDocument`.
    package func decode(_ json: [UInt8]) throws(FormError) -> Document {
        if let document = json.withUnsafeBufferPointer({ canonical($0) }) { return document }
        return try form.decodeDocument(json, of: owner)
    }

    /// Nil if the text is not the canonical one, or has a value that must be looked at closely.
    private func canonical(_ json: UnsafeBufferPointer<UInt8>) -> Document? {
        guard var scanner = beginning(of: json) else { return nil }
        var values: [Value] = []
        values.reserveCapacity(members.count)
        for position in members.indices {
            guard scanner.skip(members[position].opening),
                let value = value(at: position, &scanner, json)
            else { return nil }
            values.append(value)
        }
        guard scanner.skip(UInt8(ascii: "}")), scanner.isAtEnd else { return nil }
        return Document(values: values)
    }

    /// A scanner in front of the first member.
    func beginning(of json: UnsafeBufferPointer<UInt8>) -> DocumentScanner? {
        var scanner = DocumentScanner(json)
        if let keyOpening {
            guard scanner.skip(keyOpening), scanner.skipKey() else { return nil }
        } else if members.isEmpty {
            return nil
        }
        return scanner
    }

    @inline(__always)
    private func value(
        at position: Int,
        _ scanner: inout DocumentScanner,
        _ json: UnsafeBufferPointer<UInt8>
    ) -> Value? {
        if let type = members[position].scalar {
            if scanner.skipNull() { return members[position].acceptsNull ? .null : nil }
            if let scalar = scanner.readScalar(type) { return .scalar(scalar) }
        }
        return generalValue(at: position, &scanner, json)
    }

    /// A value of any type and form.
    func generalValue(
        at position: Int,
        _ scanner: inout DocumentScanner,
        _ json: UnsafeBufferPointer<UInt8>
    ) -> Value? {
        let member = members[position]
        var reader = JSONReader(json, at: scanner.offset, depth: 1)
        guard let value = try? form.readProperty(member.property, from: &reader) else { return nil }
        scanner.offset = reader.offset
        return value
    }
}
