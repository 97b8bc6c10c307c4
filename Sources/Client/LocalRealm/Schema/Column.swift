internal import Changesets
internal import Documents
internal import Schemas

/// A property and the column that holds it.
///
/// A class, because it is taken out of its table for each value of each row: a structure of this
/// size would cost ten counted references each time.
final class Column: Sendable {
    /// Number in `_realm_property`; `prop` in a log row.
    let id: Int64
    let columnName: String
    let property: PropertySchema
    let type: ColumnType
    let options: PropertyOptions
    /// The initial value (instruction semantics, 1.5).
    let typeDefault: ColumnValue
    /// The value of a row that a program inserts without the column.
    let insertDefault: ColumnValue
    /// Whether each value that can be read is in its canonical form.
    private let isAlwaysCanonical: Bool
    /// The type of a scalar whose value in a new object is sent as the column has it, unless it is zero, empty
    /// or NULL, the initial values; nil if there is more to it.
    let plainType: ScalarType?

    /// Nil if the schema has no such link target.
    init?(
        id: Int64,
        columnName: String,
        _ property: PropertySchema,
        in schema: RealmSchema,
        options: PropertyOptions
    ) {
        guard let type = ColumnType(property, in: schema) else { return nil }
        self.id = id
        self.columnName = columnName
        self.property = property
        self.type = type
        self.options = options
        self.typeDefault = ColumnForm.encode(property.defaultValue, of: property, in: schema)
        self.insertDefault =
            options.defaultValue.map {
                ColumnForm.encode(.scalar($0), of: property, in: schema)
            } ?? typeDefault
        self.isAlwaysCanonical =
            switch type {
            case .scalar(.int), .scalar(.bool), .scalar(.string), .scalar(.binary): true
            default: false
            }
        self.plainType =
            switch type {
            // Changesets mark the values of declared defaults.
            case _ where options.defaultValue != nil: nil
            case .scalar(let type)
            where [.int, .bool, .string, .binary, .double].contains(type): type
            default: nil
            }
    }

    var name: Text { property.name }

    /// Whether the column itself can be NULL: an empty collection is not NULL.
    var isNullable: Bool { property.collection == .single && property.acceptsNull }

    /// Decodes the column's value.
    func decode(_ value: ColumnValue, in schema: RealmSchema) throws(FormError) -> Value {
        switch type {
        case .scalar(let type):
            return .scalar(try ColumnForm.decode(value, as: type, isNullable: isNullable))
        case .link(let target):
            return try ColumnForm.decodeLink(value, to: target).map { .scalar(.link($0)) } ?? .null
        case .mixed, .embedded, .list, .set, .dictionary:
            return try ColumnForm.decode(value, of: property, in: schema)
        }
    }

    func encode(_ value: Value, in schema: RealmSchema) -> ColumnValue {
        ColumnForm.encode(value, of: property, in: schema)
    }

    /// The canonical form of a value, if it was read from another one.
    func correction(
        of stored: ColumnValue,
        readAs value: Value,
        in schema: RealmSchema
    ) -> ColumnValue? {
        guard !isAlwaysCanonical else { return nil }
        let canonical = encode(value, in: schema)
        return canonical == stored ? nil : canonical
    }
}

extension Column: Hashable {
    static func == (one: Column, other: Column) -> Bool {
        one === other
            || one.id == other.id && one.columnName == other.columnName
                && one.property == other.property && one.type == other.type
                && one.options == other.options
    }

    func hash(into hasher: inout Hasher) {
        hasher.combine(id)
        hasher.combine(columnName)
    }
}

/// The content of a column: a scalar or link directly, everything else as JSON text (local realm,
/// 2).
enum ColumnType: Hashable {
    case scalar(ScalarType)
    case link(LinkTarget)
    case mixed
    case embedded(className: Text)
    case list(ElementType)
    case set(ElementType)
    case dictionary(ElementType)

    init?(_ property: PropertySchema, in schema: RealmSchema) {
        guard let element = schema.elementType(of: property) else { return nil }
        switch (property.collection, element) {
        case (.single, .scalar(let type)): self = .scalar(type)
        case (.single, .link(let target)): self = .link(target)
        case (.single, .mixed): self = .mixed
        case (.single, .embedded(let className)): self = .embedded(className: className)
        case (.list, _): self = .list(element)
        case (.set, _): self = .set(element)
        case (.dictionary, _): self = .dictionary(element)
        }
    }

    /// The single value or element; nil for a scalar or link in a column of its own.
    var jsonElement: ElementType? {
        switch self {
        case .scalar, .link: nil
        case .mixed: .mixed
        case .embedded(let className): .embedded(className: className)
        case .list(let element), .set(let element), .dictionary(let element): element
        }
    }
}
