import Changesets
import Schemas

/// The properties that can be queryable (flexible sync, 12.7).
enum QueryableField {
    /// Scalars, links and lists of them at the top level of an object; no dictionaries, no embedded
    /// objects.
    static func isPossible(_ property: PropertySchema, in schema: RealmSchema) -> Bool {
        guard property.collection != .dictionary else { return false }
        guard case .link(let target) = property.type else { return true }
        return schema[target]?.isEmbedded != true
    }
}
