import Changesets
import Schemas

extension JSONForm {
    func write(_ value: Value, _ type: ElementType, to writer: inout JSONWriter) {
        switch value {
        case .scalar(let scalar):
            write(scalar, type, to: &writer)
        case .list(let elements):
            writer.write("[")
            for (position, element) in elements.enumerated() {
                if position > 0 { writer.write(",") }
                write(element, type, to: &writer)
            }
            writer.write("]")
        case .set(let set):
            writer.write("[")
            for (position, element) in set.elements.enumerated() {
                if position > 0 { writer.write(",") }
                write(element, type, to: &writer)
            }
            writer.write("]")
        case .dictionary(let members):
            writer.write("{")
            for (position, member) in members.sorted(by: { $0.key < $1.key }).enumerated() {
                if position > 0 { writer.write(",") }
                writer.write(dictionaryKey: member.key)
                writer.write(":")
                write(member.value, type, to: &writer)
            }
            writer.write("}")
        case .object(let document):
            guard case .embedded(let className) = type, let owner = schema[className] else {
                preconditionFailure("only a property of an embedded class holds an object")
            }
            writer.write("{")
            writeMembers(document, of: owner, isFirst: true, to: &writer)
            writer.write("}")
        }
    }

    func writeMembers(
        _ document: Document,
        of owner: ClassSchema,
        isFirst: Bool,
        to writer: inout JSONWriter
    ) {
        var isFirst = isFirst
        for (property, value) in zip(owner.properties, document.values) {
            if !isFirst { writer.write(",") }
            isFirst = false
            writer.write(string: property.name.bytes)
            writer.write(":")
            write(value, elementType(of: property), to: &writer)
        }
    }

    private func write(_ scalar: Scalar, _ type: ElementType, to writer: inout JSONWriter) {
        if case .mixed = type {
            writer.write(mixed: scalar)
        } else {
            writer.write(typed: scalar)
        }
    }
}
