/// A condition for WHERE.
///
/// Constants of a query are only in the parameters, never in the text.
package struct SQLCondition: Hashable, Sendable {
    /// True, false or NULL, which counts as false. Placeholders are `?1` for SQLite, `$1` for
    /// PostgreSQL.
    package let text: String
    package let parameters: [SQLParameter]
}

package enum SQLParameter: Hashable, Sendable {
    case integer(Int64)
    /// Without U+0000.
    case text(String)
}
