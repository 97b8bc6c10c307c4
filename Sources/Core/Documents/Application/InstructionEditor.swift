package import Changesets
package import Schemas

/// Applies the path instructions of one changeset to values (instruction semantics, 2 and 3).
///
/// It stores no object: the owner of the store finds the object, lends the value of the
/// instruction's property, and keeps the result.
package struct InstructionEditor {
    var resolver: SchemaResolver

    package init(schema: RealmSchema, strings: StringTable) {
        self.resolver = SchemaResolver(schema: schema, strings: strings)
    }

    package var schema: RealmSchema { resolver.schema }

    /// The longest path accepted.
    ///
    /// Our own limit: a path of wire length could nest embedded objects deeper than any stack.
    package static let pathLimit = 500

    /// The class, by its position in the schema, and the key of the object that an instruction
    /// targets; the kind of class and the type of the key are checked.
    package mutating func locate(
        _ target: Instruction.ObjectTarget
    ) throws(BadInstruction) -> (classPosition: Int, key: ObjectKey) {
        let (classPosition, object) = try resolver.object(target)
        return (classPosition, object.key)
    }

    /// Analyses a path instruction without reading its object.
    package mutating func outline(
        of instruction: Instruction
    ) throws(BadInstruction) -> PropertyChange {
        // Nearly all instructions are of this kind.
        if case .update(let update) = instruction, update.target.path.isEmpty {
            let owner = try resolver.owner(of: update.target.object)
            let property = try resolver.property(update.target.field, of: owner)
            return PropertyChange(
                object: update.target.object,
                position: property.position,
                effect: try effect(ofUpdate: update.payload, property)
            )
        }
        guard let edit = Edit(instruction) else {
            preconditionFailure("\(instruction.code) has no path")
        }
        let owner = try resolver.owner(of: edit.target.object)
        let property = try resolver.property(edit.target.field, of: owner)
        return PropertyChange(
            object: edit.target.object,
            position: property.position,
            effect: try effect(of: edit, property)
        )
    }

    private mutating func effect(
        ofUpdate payload: Payload,
        _ property: ResolvedProperty
    ) throws(BadInstruction) -> PropertyChange.Effect {
        guard property.collection == .single else { throw BadInstruction(.wrongTarget) }
        switch payload {
        case .objectValue, .list, .dictionary: return .edit
        default:
            let scalar = try scalar(payload, for: property.slot)
            let depends = property.slot.equalValue.dependsOnOldValue(scalar)
            return depends ? .edit : .replace(scalar)
        }
    }

    private mutating func effect(
        of edit: Edit,
        _ property: ResolvedProperty
    ) throws(BadInstruction) -> PropertyChange.Effect {
        guard edit.target.path.isEmpty else { return .edit }
        switch edit.operation {
        case .update(let payload):
            return try effect(ofUpdate: payload, property)
        case .addInteger(let amount):
            guard property.collection == .single, case .scalar(.int) = property.slot.element
            else { return .edit }
            return .increment(amount)
        case .insert, .move, .erase, .clear, .setInsert, .setErase:
            return .edit
        }
    }

    /// Applies a path instruction to the value of the property it names. On an error the value is as
    /// it was.
    package mutating func apply(
        _ instruction: Instruction,
        to value: inout Value
    ) throws(BadInstruction) {
        guard let edit = Edit(instruction) else {
            preconditionFailure("\(instruction.code) has no path")
        }
        let owner = try resolver.owner(of: edit.target.object)
        try apply(edit, try resolver.property(edit.target.field, of: owner), to: &value)
    }

    /// An update of a whole property, which needs no path.
    mutating func update(
        _ property: ResolvedProperty,
        to payload: Payload,
        _ value: inout Value
    ) throws(BadInstruction) {
        switch try effect(ofUpdate: payload, property) {
        case .replace(let scalar): value = .scalar(scalar)
        case .increment, .edit: try editField(.update(payload), property.slot, &value)
        }
    }

    mutating func apply(
        _ edit: Edit,
        _ property: ResolvedProperty,
        to value: inout Value
    ) throws(BadInstruction) {
        guard edit.target.path.count <= Self.pathLimit else {
            throw BadInstruction(.nestedTooDeeply)
        }
        try walk(edit, from: 0, property, &value)
    }
}

/// The effect of a path instruction on a property of its object, as far as the instruction alone
/// determines it.
package struct PropertyChange {
    package let object: Instruction.ObjectTarget
    /// The property's position in its class, and of its value in a document.
    package let position: Int
    package let effect: Effect

    package enum Effect {
        /// The new value of the property, regardless of the old one.
        case replace(Scalar)
        /// Adds to an Int property, wrapping on overflow; null stays null.
        case increment(Int64)
        /// The effect, and whether it fits, depends on the value: `InstructionEditor.apply`.
        case edit
    }
}

/// A path instruction, its target separate from its effect.
struct Edit {
    let target: Instruction.PathTarget
    let operation: Operation

    enum Operation {
        case update(Payload)
        case addInteger(Int64)
        case insert(Payload, priorSize: UInt32)
        case move(to: UInt32, priorSize: UInt32)
        case erase(priorSize: UInt32)
        case clear(CollectionType)
        case setInsert(Payload)
        case setErase(Payload)
    }

    /// Nil for instructions without a path.
    init?(_ instruction: Instruction) {
        switch instruction {
        case .addTable, .eraseTable, .createObject, .eraseObject, .addColumn, .eraseColumn:
            return nil
        case .update(let update):
            // The prior size of an Update is only used by the merge (instruction semantics, 3.8).
            (target, operation) = (update.target, .update(update.payload))
        case .addInteger(let target, let amount):
            (self.target, operation) = (target, .addInteger(amount))
        case .arrayInsert(let target, let payload, let priorSize):
            (self.target, operation) = (target, .insert(payload, priorSize: priorSize))
        case .arrayMove(let target, let to, let priorSize):
            (self.target, operation) = (target, .move(to: to, priorSize: priorSize))
        case .arrayErase(let target, let priorSize):
            (self.target, operation) = (target, .erase(priorSize: priorSize))
        case .clear(let target, let type):
            (self.target, operation) = (target, .clear(type))
        case .setInsert(let target, let payload):
            (self.target, operation) = (target, .setInsert(payload))
        case .setErase(let erase):
            (target, operation) = (erase.target, .setErase(erase.payload))
        }
    }

    /// Whether the path ends at this element.
    func endsAt(_ position: Int) -> Bool {
        position == target.path.count
    }
}

// MARK: The path

/// Collections are taken out of their place while they are edited, so that no copy is made.
extension InstructionEditor {
    /// From a property on; `position` is the first path element not walked yet.
    private mutating func walk(
        _ edit: Edit,
        from position: Int,
        _ property: ResolvedProperty,
        _ value: inout Value
    ) throws(BadInstruction) {
        if edit.endsAt(position) {
            return property.collection == .single
                ? try editField(edit.operation, property.slot, &value)
                : try editCollection(edit.operation, property, &value)
        }
        switch property.collection {
        case .single:
            try enter(edit, from: position, property.slot, &value)
        case .list:
            guard case .list(var elements) = value else { preconditionFailure("a list property") }
            value = .null
            defer { value = .list(elements) }
            try walk(edit, from: position, property.slot, &elements)
        case .dictionary:
            guard case .dictionary(var members) = value else {
                preconditionFailure("a dictionary property")
            }
            value = .null
            defer { value = .dictionary(members) }
            try walk(edit, from: position, property.slot, &members)
        case .set:
            throw BadInstruction(.deadEnd)
        }
    }

    /// Into a value that is not the end of the path.
    private mutating func enter(
        _ edit: Edit,
        from position: Int,
        _ slot: Slot,
        _ value: inout Value
    ) throws(BadInstruction) {
        switch (slot.element, value) {
        case (.mixed, .list(var elements)):
            value = .null
            defer { value = .list(elements) }
            try walk(edit, from: position, slot.inner, &elements)
        case (.mixed, .dictionary(var members)):
            value = .null
            defer { value = .dictionary(members) }
            try walk(edit, from: position, slot.inner, &members)
        case (.embedded(let classPosition), .object(var document)):
            guard case .string(let name) = edit.target.path[position] else {
                throw BadInstruction(.expectedKey)
            }
            let property = try resolver.property(name, of: classPosition)
            value = .null
            defer { value = .object(document) }
            try walk(edit, from: position + 1, property, &document.values[property.position])
        default:
            throw BadInstruction(.deadEnd)
        }
    }

    private mutating func walk(
        _ edit: Edit,
        from position: Int,
        _ slot: Slot,
        _ elements: inout [Value]
    ) throws(BadInstruction) {
        guard case .index(let index) = edit.target.path[position] else {
            throw BadInstruction(.expectedIndex)
        }
        if edit.endsAt(position + 1) {
            return try editElement(edit.operation, index, slot, &elements)
        }
        try check(index, isBelow: elements.count)
        try enter(edit, from: position + 1, slot, &elements[Int(index)])
    }

    private mutating func walk(
        _ edit: Edit,
        from position: Int,
        _ slot: Slot,
        _ members: inout [Text: Value]
    ) throws(BadInstruction) {
        guard case .string(let name) = edit.target.path[position] else {
            throw BadInstruction(.expectedKey)
        }
        let key = resolver.text(name)
        if edit.endsAt(position + 1) {
            return try editMember(edit.operation, key, slot, &members)
        }
        guard let index = members.index(forKey: key) else { throw BadInstruction(.missingKey) }
        try enter(edit, from: position + 1, slot, &members.values[index])
    }

    func check(_ index: UInt32, isBelow size: Int) throws(BadInstruction) {
        guard Int(index) < size else {
            throw BadInstruction(.indexOutOfRange(index: index, size: size))
        }
    }
}
