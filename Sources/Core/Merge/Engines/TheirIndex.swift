import Changesets

/// The positions in theirs of the operations that some rule could pair with a given one of ours
/// (the candidate table of merge rules, 10, without erased classes and columns).
///
/// Classes, objects, fields and path strings never change during a merge, so entries stay valid.
struct TheirIndex {
    var chains: Chains
    private var tables: [Symbol: Chain] = [:]
    private var columns: [Column: Chain] = [:]
    /// By object number; objects that only ours has are empty chains.
    private var objects: [Object]
    private var fieldNumbers: [FieldName: Int] = [:]
    private var fields: [Field] = []
    private var keys: [KeyName: Chain] = [:]

    private struct Object {
        /// All operations on the object and inside it.
        var everything = Chain.empty
        var erasures = Chain.empty
    }

    private struct Field {
        var everything = Chain.empty
        /// Operations on the field itself; those inside it are in `keys`, by the first string.
        var ofItself = Chain.empty
        /// Whether some path of either side enters the field by an index. Otherwise two paths with
        /// different first strings are independent.
        var hasIndexes = false
    }

    private struct Column: Hashable {
        let className: Symbol
        let field: Symbol
    }

    private struct FieldName: Hashable {
        let object: ObjectNumber
        let field: Symbol
    }

    private struct KeyName: Hashable {
        let fieldNumber: Int
        let key: Symbol
    }

    init(of theirs: Side, against ours: Side, objectCount: Int) {
        chains = Chains(capacity: 3 * theirs.operations.count)
        objects = Array(repeating: Object(), count: objectCount)
        fieldNumbers.reserveCapacity(theirs.operations.count)
        for position in theirs.operations.indices {
            add(theirs.operations[position], at: position)
        }
        for position in ours.operations.indices {
            noteIndex(in: ours.operations[position])
        }
    }
}

// MARK: Building

extension TheirIndex {
    private mutating func add(_ operation: Operation, at position: Int) {
        let place = operation.place
        switch operation.kind {
        case .addTable:
            chains.append(position, to: &tables[place.className, default: .empty])
        case .addColumn:
            let column = Column(className: place.className, field: place.field)
            chains.append(position, to: &columns[column, default: .empty])
        case .createObject:
            chains.append(position, to: &objects[place.object.index].everything)
        case .eraseObject:
            chains.append(position, to: &objects[place.object.index].everything)
            chains.append(position, to: &objects[place.object.index].erasures)
        case .eraseTable, .eraseColumn:
            preconditionFailure("erased classes and columns are merged by the plain loop")
        case .update, .addInteger, .arrayInsert, .arrayMove, .arrayErase, .clear, .setInsert,
            .setErase:
            chains.append(position, to: &objects[place.object.index].everything)
            addPath(operation, at: position)
        }
    }

    private mutating func noteIndex(in ours: Operation) {
        guard case .index = ours.firstStep, let number = fieldNumber(of: ours) else { return }
        fields[number].hasIndexes = true
    }

    private mutating func addPath(_ operation: Operation, at position: Int) {
        let name = FieldName(object: operation.place.object, field: operation.place.field)
        let number: Int
        if let known = fieldNumbers[name] {
            number = known
        } else {
            number = fields.count
            fieldNumbers[name] = number
            fields.append(Field())
        }
        chains.append(position, to: &fields[number].everything)
        switch operation.firstStep {
        case nil:
            chains.append(position, to: &fields[number].ofItself)
        case .index:
            fields[number].hasIndexes = true
        case .string(let symbol):
            let key = KeyName(fieldNumber: number, key: symbol)
            chains.append(position, to: &keys[key, default: .empty])
        }
    }
}

// MARK: Looking up

extension TheirIndex {
    /// The operations that one of ours has to meet, in the order of theirs.
    func candidates(for operation: Operation) -> Walk {
        let place = operation.place
        switch operation.kind {
        case .addTable:
            return Walk(tables[place.className])
        case .addColumn:
            return Walk(columns[Column(className: place.className, field: place.field)])
        case .createObject:
            return Walk(objects[place.object.index].erasures)
        case .eraseObject:
            return Walk(objects[place.object.index].everything)
        case .eraseTable, .eraseColumn:
            preconditionFailure("erased classes and columns are merged by the plain loop")
        case .update, .addInteger, .arrayInsert, .arrayMove, .arrayErase, .clear, .setInsert,
            .setErase:
            return pathCandidates(for: operation)
        }
    }

    private func pathCandidates(for operation: Operation) -> Walk {
        let object = objects[operation.place.object.index]
        guard !object.everything.isEmpty else { return Walk(nil) }
        guard let number = fieldNumber(of: operation) else { return Walk(object.erasures) }
        let field = fields[number]
        guard !field.hasIndexes, case .string(let symbol) = operation.firstStep else {
            return Walk(object.erasures, field.everything)
        }
        return Walk(
            object.erasures,
            field.ofItself,
            keys[KeyName(fieldNumber: number, key: symbol)]
        )
    }

    /// Nil if the operation is not inside a field, or none of theirs is inside that one.
    private func fieldNumber(of operation: Operation) -> Int? {
        guard operation.isPathInstruction,
            !objects[operation.place.object.index].everything.isEmpty
        else { return nil }
        return fieldNumbers[
            FieldName(object: operation.place.object, field: operation.place.field)
        ]
    }
}
