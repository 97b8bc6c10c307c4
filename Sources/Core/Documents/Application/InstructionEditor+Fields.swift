import Changesets
import Schemas

/// Instructions on a property: of the object, or of one embedded in it.
extension InstructionEditor {
    /// A property that holds one value (instruction semantics, 3.7, 3.10, 3.14).
    mutating func editField(
        _ operation: Edit.Operation,
        _ slot: Slot,
        _ value: inout Value
    ) throws(BadInstruction) {
        switch operation {
        case .update(.objectValue):
            guard case .embedded(let classPosition) = slot.element else {
                throw BadInstruction(.wrongPayload(.objectValue))
            }
            // An existing object keeps its content.
            if value == .null { value = .object(resolver.newDocument(of: classPosition)) }
        case .update(let payload):
            try assign(payload, slot, &value)
        case .addInteger(let amount):
            try add(amount, &value)
        case .clear(let type):
            try clearMixed(type, slot, &value)
        case .setInsert, .setErase, .insert, .move, .erase:
            throw BadInstruction(.wrongTarget)
        }
    }

    /// A list, set or dictionary as a whole (instruction semantics, 3.14, 3.15).
    mutating func editCollection(
        _ operation: Edit.Operation,
        _ property: ResolvedProperty,
        _ value: inout Value
    ) throws(BadInstruction) {
        switch operation {
        case .clear(let type):
            // Old clients send Single for any collection (changesets spec, 5).
            guard type == property.collection || type == .single else {
                throw BadInstruction(.wrongCollectionType(type))
            }
            value = property.empty
        case .setInsert(let payload):
            let element = try scalar(payload, for: property.slot)
            try editSet(&value) { $0.insert(element) }
        case .setErase(let payload):
            let element = try scalar(payload, for: property.slot)
            try editSet(&value) { $0.erase(element) }
        case .update, .addInteger, .insert, .move, .erase:
            throw BadInstruction(.wrongTarget)
        }
    }

    private func editSet(
        _ value: inout Value,
        _ edit: (inout ValueSet) -> Bool
    ) throws(BadInstruction) {
        guard case .set(var elements) = value else { throw BadInstruction(.wrongTarget) }
        value = .null
        _ = edit(&elements)
        value = .set(elements)
    }

    private func add(_ amount: Int64, _ value: inout Value) throws(BadInstruction) {
        switch value {
        case .scalar(.null): break
        case .scalar(.int(let old)): value = .scalar(.int(old &+ amount))
        default: throw BadInstruction(.notAnInteger)
        }
    }
}

extension ResolvedProperty {
    fileprivate var empty: Value {
        switch collection {
        case .single: .null
        case .list: .list([])
        case .set: .set(ValueSet())
        case .dictionary: .dictionary([:])
        }
    }
}
