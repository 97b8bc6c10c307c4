package import Changesets

/// The change that an instruction made to a schema.
package enum SchemaChange: Hashable, Sendable {
    case classAdded(ClassSchema)
    case classErased(ClassSchema)
    case propertyAdded(PropertySchema, className: Text)
    /// The property was at this position of its class.
    case propertyErased(PropertySchema, className: Text, position: Int)
}

extension RealmSchema {
    /// Applies a change that another copy of this schema has made and checked.
    package mutating func replay(_ change: SchemaChange) {
        switch change {
        case .classAdded(let schema):
            update(schema)
        case .classErased(let schema):
            remove(schema.name)
        case .propertyAdded(let property, let className):
            guard let position = position(of: className) else { return }
            withClass(at: position) { $0.update(property) }
        case .propertyErased(let property, let className, _):
            guard let position = position(of: className) else { return }
            withClass(at: position) { $0.remove(property.name) }
        }
    }
}

extension Instruction {
    /// Whether the instruction changes classes or properties rather than objects.
    package var changesSchema: Bool {
        switch self {
        case .addTable, .eraseTable, .addColumn, .eraseColumn: true
        case .createObject, .eraseObject, .update, .addInteger, .arrayInsert, .arrayMove,
            .arrayErase, .clear, .setInsert, .setErase:
            false
        }
    }
}
