package import Changesets

/// What an instruction changed in a schema.
package enum SchemaChange: Hashable, Sendable {
    case classAdded(ClassSchema)
    case classErased(ClassSchema)
    case propertyAdded(PropertySchema, className: Text)
    /// The property was at this position of its class.
    case propertyErased(PropertySchema, className: Text, position: Int)
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
