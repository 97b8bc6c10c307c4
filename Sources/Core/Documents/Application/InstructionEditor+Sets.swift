package import Changesets
package import Schemas

extension InstructionEditor {
    /// The set at the end of a SetInsert's or SetErase's path, in a property with the value
    /// `value`; nil if there is none, or if it is a set of Mixed.
    package mutating func typedSet(
        at target: Instruction.PathTarget,
        in value: Value
    ) throws(BadInstruction) -> ValueSet? {
        let owner = try resolver.owner(of: target.object)
        return typedSet(at: target, in: value, try resolver.property(target.field, of: owner))
    }

    mutating func typedSet(
        at target: Instruction.PathTarget,
        in value: Value,
        _ property: ResolvedProperty
    ) -> ValueSet? {
        var (value, property) = (value, property)
        for element in target.path.prefix(Self.pathLimit) {
            switch (value, element) {
            case (.list(let elements), .index(let index)):
                guard Int(index) < elements.count else { return nil }
                value = elements[Int(index)]
            case (.dictionary(let members), .string(let key)):
                guard let member = members[resolver.text(key)] else { return nil }
                value = member
            case (.object(let document), .string(let name)):
                guard case .embedded(let classPosition) = property.slot.element,
                    let inner = try? resolver.property(name, of: classPosition)
                else { return nil }
                property = inner
                value = document.values[inner.position]
            default:
                return nil
            }
        }
        guard case .set(let set) = value else { return nil }
        if case .mixed = property.slot.element { return nil }
        return set
    }
}
