package import Changesets
package import Schemas

/// Primary keys, and links, which contain the key of their target (local realm, 2, "Link").
extension ColumnForm {
    /// The form of a key in its own table: the null key is NULL.
    package static func encodeKey(_ key: ObjectKey) -> ColumnValue {
        switch key {
        case .null: .null
        case .int(let value): .integer(value)
        case .string(let value): .text(value.bytes)
        case .objectID(let value): .text(value.text)
        case .uuid(let value): .text(value.text)
        case .globalKey(let value): .text(GlobalKeyText.print(value))
        }
    }

    /// The form of a key in a link column, where NULL already means "no link": the null key is the
    /// empty blob.
    package static func encodeLinkKey(_ key: ObjectKey) -> ColumnValue {
        key == .null ? .blob([]) : encodeKey(key)
    }

    /// Reads the key of a row.
    ///
    /// Hexadecimal keys must be in lower case: the row is found by its text.
    package static func decodeKey(
        _ column: ColumnValue,
        as schema: PrimaryKeySchema
    ) throws(FormError) -> ObjectKey {
        if column == .null {
            guard schema.isNullable else { throw FormError(.null) }
            return .null
        }
        let key = try decodeKey(column, type: schema.type)
        guard encodeKey(key) == column else { throw FormError(.expected(schema.type.form)) }
        return key
    }

    /// Reads a link column; nil is "no link".
    package static func decodeLink(
        _ column: ColumnValue,
        to target: LinkTarget
    ) throws(FormError) -> ObjectReference? {
        if column == .null { return nil }
        if column == .blob([]), target.key.isNullable {
            return ObjectReference(className: target.className, key: .null)
        }
        return ObjectReference(
            className: target.className,
            key: try decodeKey(column, type: target.key.type)
        )
    }

    private static func decodeKey(
        _ column: ColumnValue,
        type: PrimaryKeyType
    ) throws(FormError) -> ObjectKey {
        switch type {
        case .int:
            return .int(try integer(column))
        case .string:
            return .string(try string(column))
        case .objectID:
            return .objectID(try objectID(column))
        case .uuid:
            return .uuid(try uuid(column))
        case .globalKey:
            guard let key = GlobalKeyText.parse(try text(column, .globalKey)) else {
                throw FormError(.expected(.globalKey))
            }
            return .globalKey(key)
        }
    }
}
