extension Instruction {
    /// The place inside an object that the instruction is about; nil if it is about an object as a
    /// whole, or about the schema.
    package var pathTarget: PathTarget? {
        switch self {
        case .addTable, .eraseTable, .createObject, .eraseObject, .addColumn, .eraseColumn: nil
        case .update(let update): update.target
        case .addInteger(let target, _), .arrayInsert(let target, _, _),
            .arrayMove(let target, _, _), .arrayErase(let target, _), .clear(let target, _),
            .setInsert(let target, _):
            target
        case .setErase(let erase): erase.target
        }
    }

    /// The object that the instruction is about; nil for the schema's.
    package var objectTarget: ObjectTarget? {
        switch self {
        case .createObject(let target), .eraseObject(let target): target
        default: pathTarget?.object
        }
    }
}
