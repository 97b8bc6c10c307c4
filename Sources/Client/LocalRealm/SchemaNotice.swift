/// A finding about the tables of a realm that its owner should know.
package enum SchemaNotice: Hashable, Sendable {
    /// A trigger or index of the agent had been dropped or changed, and was recreated: writes in
    /// between may not have been captured (local realm, 7.4).
    case repaired(alterations: [String], lackedTriggers: Bool)
    /// Columns that the application has added to the tables of classes: they are not synced.
    case applicationColumns([String])
    /// Triggers that are to run on changes of the server, and do not.
    case remoteTriggers([String])
    /// Impossible times or sizes in the agent's tables; they were replaced by possible ones.
    case impossibleValues(examples: [String], count: Int)

    /// The stable code for logs and events (interfaces, 5).
    package var code: String {
        switch self {
        case .repaired: "schema.altered"
        case .applicationColumns: "schema.application_column"
        case .remoteTriggers: "schema.remote_trigger"
        case .impossibleValues: "realm.impossible_value"
        }
    }

    /// Whether writes of programs may be in the tables and nowhere else.
    package var mayHaveLostWrites: Bool {
        switch self {
        case .repaired(_, let lackedTriggers): lackedTriggers
        case .applicationColumns, .remoteTriggers, .impossibleValues: false
        }
    }

    package var message: String {
        switch self {
        case .repaired(let alterations, _): alterations.joined(separator: "; ")
        case .applicationColumns(let columns): columns.joined(separator: ", ")
        case .remoteTriggers(let problems): problems.joined(separator: "; ")
        case .impossibleValues(let examples, let count):
            examples.joined(separator: "; ")
                + (count > examples.count ? "; and \(count - examples.count) more" : "")
        }
    }
}
