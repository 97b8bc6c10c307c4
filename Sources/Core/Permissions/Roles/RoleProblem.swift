package import Changesets
package import Query

/// A mistake in a role for a class. It allows nothing there.
package struct RoleProblem: Error, Hashable, Sendable {
    package let className: Text
    package let role: String
    package let mistake: Mistake

    package struct Mistake: Hashable, Sendable {
        package let key: Key
        package let cause: QueryError
    }

    /// The key of the configuration with the mistake.
    package enum Key: String, Hashable, Sendable {
        case applyWhen = "apply_when"
        case readFilter = "document_filters.read"
        case writeFilter = "document_filters.write"
        case read, write, insert, delete, fields
    }
}
