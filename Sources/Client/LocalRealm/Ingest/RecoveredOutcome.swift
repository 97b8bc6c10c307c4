/// The outcome, or expected outcome, of a line of a file in `recovered/`.
package struct RecoveredOutcome: Hashable, Sendable {
    package enum Action: String, Sendable, CaseIterable {
        case update, insert, delete
        /// The realm already has it.
        case none
        /// It cannot be applied.
        case skip
    }

    /// Facts to report before the changes are applied.
    package enum Conflict: String, Sendable, CaseIterable {
        /// It no longer exists: it is recreated with the values that the program last saw.
        case rowGone = "row_gone"
        /// Created by the program, but it already exists: the program's values win.
        case rowExists = "row_exists"
        /// It differs from the server's state when the changes were discarded, and is overwritten.
        case changedSince = "changed_since"
        /// A number was added to a value that is no longer a number; it stays as it is.
        case notANumber = "not_a_number"

        package var meaning: String {
            switch self {
            case .rowGone:
                "the row was deleted; it is recreated with the program's last values"
            case .rowExists:
                "the program created the row, but it already exists; the program's values win"
            case .changedSince:
                "the row has changed since the changes were discarded; they overwrite it"
            case .notANumber:
                "the program added to a number, but the property no longer holds one; nothing is added"
            }
        }
    }

    /// A property to write, its values as JSON.
    package struct Property: Hashable, Sendable {
        package let name: String
        /// Nil if the object does not exist.
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
