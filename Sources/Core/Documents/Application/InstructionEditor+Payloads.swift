import Changesets
import Schemas

/// The effect of a payload on a slot, and the check whether it fits (instruction semantics, 3.7).
extension InstructionEditor {
    /// Writes null, a scalar or a link. For a list or dictionary, writes an empty one, unless the
    /// slot already has one of that kind, which keeps its content. A scalar that equals the old one
    /// keeps the old representation (instruction semantics, 3.16).
    mutating func assign(
        _ payload: Payload,
        _ slot: Slot,
        _ value: inout Value
    ) throws(BadInstruction) {
        switch payload {
        case .list:
            try checkNewCollection(.list, slot)
            if case .list = value { return }
            value = .list([])
        case .dictionary:
            try checkNewCollection(.dictionary, slot)
            if case .dictionary = value { return }
            value = .dictionary([:])
        default:
            let new = try scalar(payload, for: slot)
            if case .scalar(let old) = value, slot.equalValue.keeps(old, over: new) { return }
            value = .scalar(new)
        }
    }

    /// Makes the slot an empty collection, regardless of its old value (instruction semantics,
    /// 3.14).
    func clearMixed(
        _ type: CollectionType,
        _ slot: Slot,
        _ value: inout Value
    ) throws(BadInstruction) {
        guard case .mixed = slot.element else { throw BadInstruction(.wrongTarget) }
        switch type {
        case .list:
            try checkNewCollection(.list, slot)
            value = .list([])
        case .dictionary:
            try checkNewCollection(.dictionary, slot)
            value = .dictionary([:])
        case .single, .set:
            throw BadInstruction(.wrongCollectionType(type))
        }
    }

    private func checkNewCollection(
        _ code: TypeCode,
        _ slot: Slot
    ) throws(BadInstruction) {
        guard case .mixed = slot.element else { throw BadInstruction(.wrongPayload(code)) }
        guard slot.level < FormatLimits.nestingDepth else {
            throw BadInstruction(.nestedTooDeeply)
        }
    }

    /// Null, a scalar or a link that fits the slot.
    mutating func scalar(
        _ payload: Payload,
        for slot: Slot
    ) throws(BadInstruction) -> Scalar {
        switch payload {
        case .null, .decimal(.referenceNull):
            guard slot.acceptsNull else { throw BadInstruction(.nullNotAllowed) }
            return .null
        case .int(let value):
            try check(.int, .int, slot)
            return .int(value)
        case .bool(let value):
            try check(.bool, .bool, slot)
            return .bool(value)
        case .string(let value):
            try check(.string, .string, slot)
            guard value.bytes.count <= FormatLimits.stringSizeInBytes else {
                throw BadInstruction(.stringTooLong(sizeInBytes: value.bytes.count))
            }
            return .string(value)
        case .binary(let value):
            try check(.binary, .binary, slot)
            guard value.count <= FormatLimits.binarySizeInBytes else {
                throw BadInstruction(.binaryTooLong(sizeInBytes: value.count))
            }
            return .binary(value)
        case .timestamp(let value):
            try check(.timestamp, .timestamp, slot)
            return .timestamp(value)
        case .float(let value):
            try check(.float, .float, slot)
            return .float(value)
        case .double(let value):
            try check(.double, .double, slot)
            return .double(value)
        case .decimal(let value):
            try check(.decimal, .decimal, slot)
            return .decimal(value)
        case .objectID(let value):
            try check(.objectID, .objectID, slot)
            return .objectID(value)
        case .uuid(let value):
            try check(.uuid, .uuid, slot)
            return .uuid(value)
        case .link(let className, let key):
            return .link(try link(className, key, for: slot))
        case .objectValue, .dictionary, .list, .set, .erased:
            throw BadInstruction(.wrongPayload(payload.typeCode))
        }
    }

    private func check(
        _ type: ScalarType,
        _ code: TypeCode,
        _ slot: Slot
    ) throws(BadInstruction) {
        switch slot.element {
        case .mixed: return
        case .scalar(let expected) where expected == type: return
        case .scalar, .link, .embedded: throw BadInstruction(.wrongPayload(code))
        }
    }

    private mutating func link(
        _ className: InternIndex,
        _ key: PrimaryKey,
        for slot: Slot
    ) throws(BadInstruction) -> ObjectReference {
        let link = try resolver.link(className, key)
        switch slot.element {
        case .mixed:
            return link
        case .link(let expected):
            guard link.className == expected else {
                throw BadInstruction(.wrongLinkTarget(link.className))
            }
            return link
        case .scalar, .embedded:
            throw BadInstruction(.wrongPayload(.link))
        }
    }
}
