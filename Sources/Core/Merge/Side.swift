import Changesets

/// One side of a merge: the instructions of its changesets, one after the other.
struct Side {
    /// Discarded ones keep their position, marked, until the end.
    var operations: [Operation]
    /// Whether some instruction erases a class or column.
    private(set) var erasesSchema = false
    /// Whether some instruction carries a NaN.
    private(set) var containsNaN = false
    /// The prepended operations, in order of occurrence.
    private var prepended: [Operation] = []

    init(_ operands: [MergeOperand], symbols: inout Symbols) {
        operations = []
        operations.reserveCapacity(operands.instructionCount)
        for (number, operand) in operands.enumerated() {
            let table = symbols.symbols(of: operand.changeset.strings)
            for (position, instruction) in operand.changeset.instructions.enumerated() {
                append(
                    Operation(
                        instruction,
                        origin: .init(changeset: number, instruction: position),
                        stamp: operand.stamp,
                        table: table,
                        symbols: &symbols
                    )
                )
            }
        }
    }

    private mutating func append(_ operation: Operation) {
        if operation.kind == .eraseTable || operation.kind == .eraseColumn { erasesSchema = true }
        if operation.containsNaN { containsNaN = true }
        operations.append(operation)
    }

    /// Puts an operation before the one at the position (merge rules, 3.2).
    mutating func prepend(_ operation: Operation, at position: Int) {
        operations.insert(operation, at: position)
        prepended.append(operation)
    }

    /// Writes the changes of the merge back into the original operands.
    func store(into operands: inout [MergeOperand], _ symbols: Symbols) {
        for operation in prepended {
            internNames(of: operation, in: &operands[operation.origin.changeset], symbols)
        }
        var start = operations.startIndex
        while start < operations.endIndex {
            let number = operations[start].origin.changeset
            let end =
                operations[start...].firstIndex { $0.origin.changeset != number }
                ?? operations.endIndex
            store(operations[start..<end], into: &operands[number], symbols)
            start = end
        }
    }

    /// Prepended operations may have names that are new in their changeset. These are interned in
    /// order of occurrence, class first, and stay even if the operation did not.
    private func internNames(
        of operation: Operation,
        in operand: inout MergeOperand,
        _ symbols: Symbols
    ) {
        _ = operand.changeset.strings.intern(symbols[operation.place.className])
        _ = operand.changeset.strings.intern(symbols[operation.place.field])
    }

    private func store(
        _ operations: ArraySlice<Operation>,
        into operand: inout MergeOperand,
        _ symbols: Symbols
    ) {
        guard operations.contains(where: { $0.isTouched }) else { return }
        operand.isDirty = true
        if operations.allSatisfy({ !$0.isDiscarded && !$0.origin.isPrepended }) {
            for operation in operations where operation.isChanged {
                operand.changeset.instructions[operation.origin.instruction].adopt(operation)
            }
        } else {
            var instructions: [Instruction] = []
            for operation in operations where !operation.isDiscarded {
                instructions.append(instruction(operation, of: &operand.changeset, symbols))
            }
            operand.changeset.instructions = instructions
        }
    }

    private func instruction(
        _ operation: Operation,
        of changeset: inout Changeset,
        _ symbols: Symbols
    ) -> Instruction {
        if operation.origin.isPrepended {
            return .eraseColumn(
                className: changeset.strings.intern(symbols[operation.place.className]),
                field: changeset.strings.intern(symbols[operation.place.field])
            )
        }
        var instruction = changeset.instructions[operation.origin.instruction]
        if operation.isChanged { instruction.adopt(operation) }
        return instruction
    }
}

extension [MergeOperand] {
    var instructionCount: Int {
        reduce(0) { $0 + $1.changeset.instructions.count }
    }
}

extension Operation {
    fileprivate var isTouched: Bool { isChanged || isDiscarded || origin.isPrepended }
}

extension Instruction {
    /// Adopts what rules change: indexes along the path, the numbers of a list instruction, and the
    /// sum that rule 8 makes.
    fileprivate mutating func adopt(_ operation: Operation) {
        switch self {
        case .update(var update):
            update.target.adopt(operation)
            if case .update(let content, _) = operation.detail { update.payload = content.payload }
            if case .priorSize = update.detail { update.detail = .priorSize(operation.priorSize) }
            self = .update(update)
        case .addInteger(var target, let amount):
            target.adopt(operation)
            self = .addInteger(target, amount: amount)
        case .arrayInsert(var target, let payload, _):
            target.adopt(operation)
            self = .arrayInsert(target, payload, priorSize: operation.priorSize)
        case .arrayMove(var target, _, _):
            target.adopt(operation)
            self = .arrayMove(
                target,
                to: operation.destination,
                priorSize: operation.priorSize
            )
        case .arrayErase(var target, _):
            target.adopt(operation)
            self = .arrayErase(target, priorSize: operation.priorSize)
        case .clear(var target, let collection):
            target.adopt(operation)
            self = .clear(target, collection)
        case .setInsert(var target, let payload):
            target.adopt(operation)
            self = .setInsert(target, payload)
        case .setErase(var erase):
            erase.target.adopt(operation)
            self = .setErase(erase)
        case .addTable, .eraseTable, .createObject, .eraseObject, .addColumn, .eraseColumn:
            break
        }
    }
}

extension Instruction.PathTarget {
    fileprivate mutating func adopt(_ operation: Operation) {
        for (position, step) in operation.container.enumerated() {
            if case .index(let index) = step { path[position] = .index(index) }
        }
        if operation.end == .index { path[path.count - 1] = .index(operation.index) }
    }
}
