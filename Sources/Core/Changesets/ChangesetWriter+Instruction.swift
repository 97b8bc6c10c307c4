/// Records instructions of another changeset, with adjusted indexes.
extension ChangesetWriter {
    package mutating func write(_ table: Instruction.AddTable, of changeset: Changeset) {
        let name = changeset.text(table.className)
        switch table.kind {
        case .embedded: addEmbeddedClass(name)
        case .topLevel(let key), .asymmetric(let key):
            var isAsymmetric = false
            if case .asymmetric = table.kind { isAsymmetric = true }
            addTopLevelClass(
                name,
                primaryKey: changeset.text(key.field),
                type: key.type,
                isNullable: key.isNullable,
                isAsymmetric: isAsymmetric
            )
        }
    }

    package mutating func write(_ column: Instruction.AddColumn, of changeset: Changeset) {
        addColumn(
            changeset.text(column.field),
            to: changeset.text(column.className),
            type: column.type,
            isNullable: column.isNullable,
            collection: column.collection,
            linkTarget: column.linkTarget.map { changeset.text($0) }
        )
    }

    /// Any instruction but removals of classes and properties, which no server admits; those are left
    /// out.
    package mutating func append(_ instruction: Instruction, of changeset: Changeset) {
        switch instruction {
        case .addTable(let table): write(table, of: changeset)
        case .addColumn(let column): write(column, of: changeset)
        case .createObject(let target): createObject(changeset.reference(target))
        case .eraseObject(let target): eraseObject(changeset.reference(target))
        case .eraseTable, .eraseColumn: break
        default: write(instruction, of: changeset)
        }
    }

    /// An instruction with a path.
    package mutating func write(_ instruction: Instruction, of changeset: Changeset) {
        switch instruction {
        case .addTable, .eraseTable, .addColumn, .eraseColumn, .createObject, .eraseObject:
            preconditionFailure("\(instruction) has no path")
        case .update(let update):
            let (object, field, path) = changeset.place(update.target)
            let content = changeset.content(update.payload)
            switch update.detail {
            case .isDefault(let isDefault):
                self.update(object, field, path: path, to: content, isDefault: isDefault)
            case .priorSize(let size):
                updateElement(object, field, path: path, to: content, priorSize: size)
            }
        case .addInteger(let target, let amount):
            let (object, field, path) = changeset.place(target)
            addInteger(object, field, path: path, amount: amount)
        case .arrayInsert(let target, let payload, let size):
            let (object, field, path) = changeset.place(target)
            let content = changeset.content(payload)
            arrayInsert(object, field, path: path, content, priorSize: size)
        case .arrayMove(let target, let to, let size):
            let (object, field, path) = changeset.place(target)
            arrayMove(object, field, path: path, to: to, priorSize: size)
        case .arrayErase(let target, let size):
            let (object, field, path) = changeset.place(target)
            arrayErase(object, field, path: path, priorSize: size)
        case .clear(let target, let collection):
            let (object, field, path) = changeset.place(target)
            clear(object, field, path: path, collection)
        case .setInsert(let target, let payload):
            let (object, field, path) = changeset.place(target)
            setInsert(object, field, path: path, changeset.scalar(payload) ?? .null)
        case .setErase(let erase):
            let (object, field, path) = changeset.place(erase.target)
            setErase(object, field, path: path, changeset.scalar(erase.payload) ?? .null)
        }
    }
}

extension Changeset {
    package func place(
        _ target: Instruction.PathTarget
    ) -> (ObjectReference, field: Text, path: [ChangesetWriter.Step]) {
        let path = target.path.map { element -> ChangesetWriter.Step in
            switch element {
            case .index(let index): .index(index)
            case .string(let index): .string(text(index))
            }
        }
        return (reference(target.object), text(target.field), path)
    }

    package func content(_ payload: Payload) -> ChangesetWriter.Content {
        switch payload {
        case .objectValue: .objectValue
        case .list: .list
        case .dictionary: .dictionary
        case .erased: .erased
        default: .scalar(scalar(payload) ?? .null)
        }
    }
}
