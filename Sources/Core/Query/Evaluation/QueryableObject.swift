package import Changesets
package import Documents

/// An object as queries read it: a document, a row of SQLite, a row of PostgreSQL.
///
/// Queries of subscriptions only read fields of the object itself; the other members serve the full
/// language.
package protocol QueryableObject {
    /// The value of the field. A missing value of a required field is the default of its type
    /// (flexible sync, 12.6). The primary key is returned as a scalar.
    func value(of field: QueryField) -> Value

    /// The target of a link of this object, or nil if it does not exist.
    func object(_ reference: ObjectReference) -> (any QueryableObject)?

    /// The objects whose property links to this one, once for each link.
    func referrers(of className: Text, through property: Text) -> [any QueryableObject]
}

extension QueryableObject {
    package func object(_ reference: ObjectReference) -> (any QueryableObject)? { nil }

    package func referrers(
        of className: Text,
        through property: Text
    ) -> [any QueryableObject] { [] }
}

/// An object inside a property of another one.
struct EmbeddedObject: QueryableObject {
    let document: Document
    let owner: any QueryableObject

    func value(of field: QueryField) -> Value {
        guard let position = field.position, position < document.values.count else { return .null }
        return document.values[position]
    }

    func object(_ reference: ObjectReference) -> (any QueryableObject)? {
        owner.object(reference)
    }
}
