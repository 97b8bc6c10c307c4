/// The types that a value of Mixed can have, for `.@type`. Subscriptions may not use it.
package struct ValueKinds: OptionSet, Hashable, Sendable {
    package let rawValue: UInt32

    package init(rawValue: UInt32) {
        self.rawValue = rawValue
    }

    static let null = ValueKinds(rawValue: 1 << 0)
    static let int = ValueKinds(rawValue: 1 << 1)
    static let bool = ValueKinds(rawValue: 1 << 2)
    static let string = ValueKinds(rawValue: 1 << 3)
    static let binary = ValueKinds(rawValue: 1 << 4)
    static let date = ValueKinds(rawValue: 1 << 5)
    static let float = ValueKinds(rawValue: 1 << 6)
    static let double = ValueKinds(rawValue: 1 << 7)
    static let decimal = ValueKinds(rawValue: 1 << 8)
    static let link = ValueKinds(rawValue: 1 << 9)
    static let objectID = ValueKinds(rawValue: 1 << 10)
    static let uuid = ValueKinds(rawValue: 1 << 11)
    static let dictionary = ValueKinds(rawValue: 1 << 12)
    static let list = ValueKinds(rawValue: 1 << 13)
    static let number: ValueKinds = [.int, .float, .double, .decimal]
    static let collection: ValueKinds = [.list, .dictionary]

    init(of value: QueryValue) {
        switch value {
        case .null: self = .null
        case .bool: self = .bool
        case .int: self = .int
        case .float: self = .float
        case .double: self = .double
        case .decimal: self = .decimal
        case .string: self = .string
        case .binary: self = .binary
        case .date: self = .date
        case .objectID: self = .objectID
        case .uuid: self = .uuid
        case .link: self = .link
        case .kinds(let kinds): self = kinds
        case .nested(let isList, _): self = isList ? .list : .dictionary
        }
    }

    /// The kinds that a word means, in any case.
    init?(name: [UInt8]) {
        guard let kinds = Self.names[String(decoding: name, as: UTF8.self).lowercased()] else {
            return nil
        }
        self = kinds
    }

    private static let names: [String: ValueKinds] = [
        "null": .null, "int": .int, "integer": .int, "int16": .int, "int32": .int, "int64": .int,
        "short": .int, "long": .int, "byte": .int, "char": .int, "bool": .bool, "boolean": .bool,
        "string": .string, "binary": .binary, "data": .binary, "bytearray": .binary,
        "byte[]": .binary, "bindata": .binary, "date": .date, "datetimeoffset": .date,
        "timestamp": .date, "float": .float, "double": .double, "decimal128": .decimal,
        "decimal": .decimal, "objectlink": .link, "link": .link, "objectid": .objectID,
        "uuid": .uuid, "guid": .uuid, "numeric": .number, "object": .dictionary,
        "dictionary": .dictionary, "array": .list, "list": .list, "collection": .collection,
    ]

    /// The word of the canonical text.
    var canonicalName: String {
        switch self {
        case .null: "null"
        case .int: "int"
        case .bool: "bool"
        case .string: "string"
        case .binary: "binary"
        case .date: "date"
        case .float: "float"
        case .double: "double"
        case .decimal: "decimal128"
        case .link: "objectlink"
        case .objectID: "objectid"
        case .uuid: "uuid"
        case .dictionary: "object"
        case .list: "array"
        case .number: "numeric"
        default: "collection"
        }
    }
}
