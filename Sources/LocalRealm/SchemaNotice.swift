/// Something about the tables of a realm that its owner should know.
package enum SchemaNotice: Hashable, Sendable {
    /// A trigger or index of the agent had been dropped or changed, and was made anew: what programs
    /// wrote meanwhile may not have been captured (local realm, 7.4).
    case repaired(alterations: [String])
    /// Columns that the application has added to the tables of classes: they are not synchronised.
    case applicationColumns([String])

    /// The stable word for logs and events (interfaces, 5).
    package var code: String {
        switch self {
        case .repaired: "schema.altered"
        case .applicationColumns: "schema.application_column"
        }
    }

    package var message: String {
        switch self {
        case .repaired(let alterations): alterations.joined(separator: "; ")
        case .applicationColumns(let columns): columns.joined(separator: ", ")
        }
    }
}
