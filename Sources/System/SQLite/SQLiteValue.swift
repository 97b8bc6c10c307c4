/// A value as SQLite stores it.
package enum SQLiteValue: Hashable, Sendable {
    case null
    case integer(Int64)
    case real(Double)
    case text(String)
    case blob([UInt8])
}

extension SQLiteValue: ExpressibleByNilLiteral, ExpressibleByIntegerLiteral,
    ExpressibleByStringLiteral,
    ExpressibleByFloatLiteral
{
    package init(nilLiteral: ()) {
        self = .null
    }

    package init(integerLiteral value: Int64) {
        self = .integer(value)
    }

    package init(floatLiteral value: Double) {
        self = .real(value)
    }

    package init(stringLiteral value: String) {
        self = .text(value)
    }
}

/// The storage class of a value, which determines how to read it.
package enum StorageClass: Hashable, Sendable {
    case null
    case integer
    case real
    case text
    case blob
}
