/// A parsed changeset: instructions, and the table of the strings they refer to.
package struct Changeset: Hashable, Sendable {
    package var strings: StringTable
    package var instructions: [Instruction]

    package init(strings: StringTable = StringTable(), instructions: [Instruction] = []) {
        self.strings = strings
        self.instructions = instructions
    }
}

// MARK: Looking through the string table

extension Changeset {
    package func text(_ index: InternIndex) -> Text {
        strings[index]
    }

    package func objectKey(_ key: PrimaryKey) -> ObjectKey {
        strings.objectKey(key)
    }

    package func reference(_ target: Instruction.ObjectTarget) -> ObjectReference {
        ObjectReference(className: strings[target.className], key: objectKey(target.key))
    }

    /// The payload as a value, or nil if it is a marker (object, list, dictionary, set, erased).
    package func scalar(_ payload: Payload) -> Scalar? {
        switch payload {
        case .null: .null
        case .int(let value): .int(value)
        case .bool(let value): .bool(value)
        case .string(let value): .string(value)
        case .binary(let value): .binary(value)
        case .timestamp(let value): .timestamp(value)
        case .float(let value): .float(value)
        case .double(let value): .double(value)
        case .decimal(let value): .decimal(value)
        case .link(let className, let key):
            .link(ObjectReference(className: strings[className], key: objectKey(key)))
        case .objectID(let value): .objectID(value)
        case .uuid(let value): .uuid(value)
        case .objectValue, .dictionary, .list, .set, .erased: nil
        }
    }
}
