internal import Changesets
internal import Documents
internal import Schemas

/// One line of a file in `recovered/`: the changes of one object that a reset has discarded (client
/// reset, 3).
///
/// A pure value: `plan(for:)` computes their effect on the object's current state.
struct RecoveredChange {
    /// The change of one property.
    enum PropertyIntent {
        case set
        case add(Int64)
        case append([Value])
        case elements(added: ValueSet, removed: ValueSet)
        case members(put: [Text: Value], dropped: [Text])
    }

    enum Kind {
        case delete
        /// The object was created, with these values.
        case create
        /// Intents by the property's position.
        case change([Int: PropertyIntent])
    }

    /// The server's state when the changes were discarded.
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
    /// The last state of the object in the program; defaults if it was deleted.
    let document: Document
    let server: Server
}
