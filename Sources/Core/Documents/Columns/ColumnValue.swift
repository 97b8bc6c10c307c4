/// A value as in an SQLite column.
package enum ColumnValue: Hashable, Sendable {
    case null
    case integer(Int64)
    /// Never NaN: SQLite stores that as NULL.
    case real(Double)
    /// UTF-8 by contract, but may be any bytes.
    case text([UInt8])
    case blob([UInt8])

    package static func text(_ string: String) -> ColumnValue {
        .text(Array(string.utf8))
    }

    /// All bytes at once: an array hashes its elements one by one, and keys are looked up often.
    package func hash(into hasher: inout Hasher) {
        switch self {
        case .null: hasher.combine(0)
        case .integer(let value): hasher.combine(value)
        case .real(let value): hasher.combine(value)
        case .text(let bytes), .blob(let bytes):
            hasher.combine(bytes.count)
            bytes.withUnsafeBytes { hasher.combine(bytes: $0) }
        }
    }
}
