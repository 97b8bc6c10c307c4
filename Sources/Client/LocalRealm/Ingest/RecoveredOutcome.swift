/// What a line of a file in `recovered/` came to, or would come to.
package struct RecoveredOutcome: Hashable, Sendable {
    package enum Action: String, Sendable, CaseIterable {
        case update, insert, delete
        /// The realm has it already.
        case none
        /// It cannot be done.
        case skip
    }

    /// What an operator should know before the changes are made.
    package enum Conflict: String, Sendable, CaseIterable {
        /// Not there any more: it comes back whole, with what the program last saw in it.
        case rowGone = "row_gone"
        /// Made by the program, and there already: the program's values win.
        case rowExists = "row_exists"
        /// It is not what the server had when the changes were discarded, and is overwritten.
        case changedSince = "changed_since"
        /// A number was added to what is not a number now; it stays as it is.
        case notANumber = "not_a_number"

        package var meaning: String {
            switch self {
            case .rowGone:
                "the row is gone; it comes back whole, as the program last had it"
            case .rowExists:
                "the program made the row, and it is there already; the program's values win"
            case .changedSince:
                "the row has changed since the changes were discarded; they overwrite it"
            case .notANumber:
                "the program added to a number, and the property holds no number now; nothing is added"
            }
        }
    }

    /// A property that is written, its values as JSON.
    package struct Property: Hashable, Sendable {
        package let name: String
        /// Nil if the object is not there.
        package let now: [UInt8]?
        package let then: [UInt8]
    }

    package let line: Int
    package let className: String
    /// As an SQL literal.
    package let key: String
    package let action: Action
    package let conflict: Conflict?
    package let properties: [Property]
}
