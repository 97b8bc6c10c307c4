import Changesets
package import Schemas

/// Whole properties: scalars and links directly, everything else as JSON text (local realm, 2).
extension ColumnForm {
    /// The column of a value, which must fit the property.
    package static func encode(
        _ value: Value,
        of property: PropertySchema,
        in schema: RealmSchema
    ) -> ColumnValue {
        guard case .scalar(let scalar) = value else {
            return .text(JSONForm(schema: schema).encode(value, of: property))
        }
        if case .mixed = property.type, scalar != .null {
            return .text(JSONForm(schema: schema).encode(value, of: property))
        }
        return encode(scalar)
    }

    /// Reads the column of a property; NULL in a collection's column is an empty collection.
    package static func decode(
        _ column: ColumnValue,
        of property: PropertySchema,
        in schema: RealmSchema
    ) throws(FormError) -> Value {
        guard property.collection == .single else {
            return column == .null
                ? property.defaultValue
                : try decodeJSON(column, of: property, in: schema)
        }
        switch schema.elementType(of: property) {
        case .scalar(let type):
            return .scalar(try decode(column, as: type, isNullable: property.isNullable))
        case .link(let target):
            return try decodeLink(column, to: target).map { .scalar(.link($0)) } ?? .null
        case .mixed, .embedded:
            return column == .null ? .null : try decodeJSON(column, of: property, in: schema)
        case nil:
            preconditionFailure("a property links to a class that is not in the schema")
        }
    }

    private static func decodeJSON(
        _ column: ColumnValue,
        of property: PropertySchema,
        in schema: RealmSchema
    ) throws(FormError) -> Value {
        let form: ValueForm =
            switch (property.collection, property.type) {
            case (.list, _), (.set, _): .jsonArray
            case (.dictionary, _), (.single, .link): .jsonObject
            case (.single, _): .json
            }
        return try JSONForm(schema: schema).decode(try text(column, form), of: property)
    }
}
