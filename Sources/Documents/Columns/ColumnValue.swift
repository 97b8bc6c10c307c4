/// A value as SQLite holds it in a column.
package enum ColumnValue: Hashable, Sendable {
    case null
    case integer(Int64)
    /// Never NaN: SQLite stores that as NULL.
    case real(Double)
    /// UTF-8 by contract, any bytes in fact.
    case text([UInt8])
    case blob([UInt8])

    package static func text(_ string: String) -> ColumnValue {
        .text(Array(string.utf8))
    }
}
