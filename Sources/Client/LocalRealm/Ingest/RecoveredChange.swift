internal import Changesets
internal import Documents
internal import Schemas

/// What one line of a file in `recovered/` tells: the changes of one object that a reset has discarded
/// (client reset, 3).
///
/// A pure value: `plan(for:)` says what they come to, given the object as it is now.
struct RecoveredChange {
    /// What was done to one property.
    enum PropertyIntent {
        case set
        case add(Int64)
        case append([Value])
        case elements(added: ValueSet, removed: ValueSet)
        case members(put: [Text: Value], dropped: [Text])
    }

    enum Kind {
        case delete
        /// The object was made, with these values.
        case create
        /// Intents by the property's position.
        case change([Int: PropertyIntent])
    }

    /// What the server had when the changes were discarded.
    enum Server {
        /// The line is of an earlier version, or the schema has changed since.
        case unknown
        case absent
        case present([Int: Value])
    }

    let object: ObjectReference
    let key: String
    let owner: ClassSchema
    let kind: Kind
    /// The object as the program had it at last; defaults if it was deleted.
    let document: Document
    let server: Server
}
