import Changesets
import Schemas

/// A primary key in JSON, before its class determines the type.
enum JSONKey {
    case null
    case int(Int64)
    case text([UInt8])

    func objectKey(_ schema: PrimaryKeySchema) throws(FormError) -> ObjectKey {
        switch (self, schema.type) {
        case (.null, _):
            guard schema.isNullable else { throw FormError(.null) }
            return .null
        case (.int(let value), .int): return .int(value)
        case (.text(let text), .string): return .string(try JSONReader.text(text))
        case (.text(let text), .objectID): return .objectID(try JSONReader.objectID(text))
        case (.text(let text), .uuid): return .uuid(try JSONReader.uuid(text))
        case (.text(let text), .globalKey):
            guard let key = GlobalKeyText.parse(text) else {
                throw FormError(.expected(.globalKey))
            }
            return .globalKey(key)
        case (.int, _), (.text, _):
            throw FormError(.expected(schema.type.form))
        }
    }
}

extension JSONReader {
    mutating func readKey() throws(FormError) -> JSONKey {
        switch try peek() {
        case .null:
            try readNull()
            return .null
        case .number:
            return .int(try readInteger())
        case .string:
            return .text(try readString())
        case .object:
            guard case .scalar(.string(let text)) = try readTagged() else {
                throw FormError(.expected(.key))
            }
            return .text(text.bytes)
        case .bool, .array:
            throw FormError(.expected(.key))
        }
    }
}

extension PrimaryKeyType {
    var form: ValueForm {
        switch self {
        case .int: .integer
        case .string: .text
        case .objectID: .objectID
        case .uuid: .uuid
        case .globalKey: .globalKey
        }
    }
}
