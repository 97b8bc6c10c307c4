/// The databases that store documents.
package enum SQLDialect: Hashable, Sendable, CaseIterable {
    /// Documents are text, in the form that `JSONForm` writes.
    case sqlite
    /// Documents are jsonb.
    case postgreSQL
}
