extension Instruction {
    /// The place inside an object that the instruction targets; nil if it targets an object as a
    /// whole, or the schema.
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

    /// The object that the instruction targets; nil for schema instructions.
    package var objectTarget: ObjectTarget? {
        switch self {
        case .createObject(let target), .eraseObject(let target): target
        default: pathTarget?.object
        }
    }
}
