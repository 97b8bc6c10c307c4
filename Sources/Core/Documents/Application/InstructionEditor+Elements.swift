package import Changesets
import Schemas

/// Instructions on an element of a list or a key of a dictionary, in a property or in Mixed.
extension InstructionEditor {
    /// A list (instruction semantics, 3.8, 3.11-3.14).
    mutating func editElement(
        _ operation: Edit.Operation,
        _ index: UInt32,
        _ slot: Slot,
        _ elements: inout [Value]
    ) throws(BadInstruction) {
        switch operation {
        case .update(let payload):
            try check(index, isBelow: elements.count)
            try updateElement(payload, slot, &elements[Int(index)])
        case .insert(let payload, let priorSize):
            try check(priorSize, is: elements.count)
            try check(index, isBelow: elements.count + 1)
            let element = try newElement(payload, slot)
            elements.insert(element, at: Int(index))
        case .move(let to, let priorSize):
            try check(priorSize, is: elements.count)
            try check(index, isBelow: elements.count)
            try check(to, isBelow: elements.count)
            guard index != to else { throw BadInstruction(.moveToSamePlace) }
            let element = elements.remove(at: Int(index))
            elements.insert(element, at: Int(to))
        case .erase(let priorSize):
            try check(priorSize, is: elements.count)
            try check(index, isBelow: elements.count)
            elements.remove(at: Int(index))
        case .clear(let type):
            try check(index, isBelow: elements.count)
            try clearMixed(type, slot, &elements[Int(index)])
        case .addInteger, .setInsert, .setErase:
            throw BadInstruction(.wrongTarget)
        }
    }

    /// A dictionary (instruction semantics, 3.9, 3.14).
    mutating func editMember(
        _ operation: Edit.Operation,
        _ key: Text,
        _ slot: Slot,
        _ members: inout [Text: Value]
    ) throws(BadInstruction) {
        switch operation {
        case .update(let payload):
            guard DictionaryKey.isLegal(key) else { throw BadInstruction(.illegalKey) }
            try updateMember(payload, key, slot, &members)
        case .clear(let type):
            guard let index = members.index(forKey: key) else { throw BadInstruction(.missingKey) }
            try clearMixed(type, slot, &members.values[index])
        case .addInteger, .insert, .move, .erase, .setInsert, .setErase:
            throw BadInstruction(.wrongTarget)
        }
    }

    private mutating func updateElement(
        _ payload: Payload,
        _ slot: Slot,
        _ element: inout Value
    ) throws(BadInstruction) {
        if payload == .objectValue, case .embedded = slot.element {
            // Unlike in a field, this never creates one: an element is always an object already.
            return
        }
        try assign(payload, slot, &element)
    }

    private mutating func updateMember(
        _ payload: Payload,
        _ key: Text,
        _ slot: Slot,
        _ members: inout [Text: Value]
    ) throws(BadInstruction) {
        switch payload {
        case .erased:
            members[key] = nil
        case .objectValue:
            // Unlike in a field, this always starts afresh.
            members[key] = try newObject(slot)
        default:
            // A payload that does not fit must not leave a key behind.
            var member = members[key] ?? .null
            try assign(payload, slot, &member)
            members[key] = member
        }
    }

    private mutating func newElement(
        _ payload: Payload,
        _ slot: Slot
    ) throws(BadInstruction) -> Value {
        if payload == .objectValue { return try newObject(slot) }
        var value = Value.null
        try assign(payload, slot, &value)
        return value
    }

    private mutating func newObject(_ slot: Slot) throws(BadInstruction) -> Value {
        guard case .embedded(let classPosition) = slot.element else {
            throw BadInstruction(.wrongPayload(.objectValue))
        }
        return .object(resolver.newDocument(of: classPosition))
    }

    private func check(_ priorSize: UInt32, is size: Int) throws(BadInstruction) {
        guard Int(priorSize) == size else {
            throw BadInstruction(.wrongPriorSize(priorSize, size: size))
        }
    }
}

/// The valid keys of a dictionary (instruction semantics, 1.4).
package enum DictionaryKey {
    package static func isLegal(_ key: Text) -> Bool {
        key.bytes.first != UInt8(ascii: "$") && !key.bytes.contains(UInt8(ascii: "."))
    }
}
