/// A parameter of a statement or a column of a COPY, with its type; nil is NULL.
///
/// Strings may not contain U+0000: PostgreSQL refuses it (SQLSTATE 22021).
package enum Value: Hashable, Sendable {
    case integer(Int64?)
    case bool(Bool?)
    case real(Double?)
    /// Text as UTF-8.
    case text([UInt8]?)
    case bytes([UInt8]?)
    /// A `jsonb` document as JSON text.
    case document([UInt8]?)
    case integers([Int64?])
    case texts([[UInt8]?])
    case byteStrings([[UInt8]?])
    case documents([[UInt8]?])

    package static func string(_ text: String?) -> Value {
        .text(text.map { Array($0.utf8) })
    }

    package static func strings(_ texts: [String]) -> Value {
        .texts(texts.map { Array($0.utf8) })
    }

    var type: TypeID {
        switch self {
        case .integer: .integer
        case .bool: .bool
        case .real: .real
        case .text: .text
        case .bytes: .bytes
        case .document: .document
        case .integers: .integers
        case .texts: .texts
        case .byteStrings: .byteStrings
        case .documents: .documents
        }
    }
}

/// PostgreSQL's numbers for the types in use, which never change.
enum TypeID: UInt32 {
    case bool = 16
    case bytes = 17
    case integer = 20
    case text = 25
    case real = 701
    case document = 3802
    case integers = 1016
    case texts = 1009
    case byteStrings = 1001
    case documents = 3807
}
