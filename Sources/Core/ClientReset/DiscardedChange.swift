package import Changesets

/// An unsynced change that cannot be applied to the server's state (client reset, 7.2).
package struct DiscardedChange: Hashable, Sendable {
    package let object: ObjectReference
    /// Nil for a change to the object as a whole.
    package let property: Text?
    package let reason: Reason

    package enum Reason: String, Hashable, Sendable, CaseIterable {
        case objectIsGone = "the object was deleted on the server"
        case targetIsGone = "the object that the link points to was deleted on the server"
        case embeddedObjectIsGone = "the embedded object was removed on the server"
        case keyIsGone = "the dictionary's key was removed on the server"
        case valueHasChangedType = "the value has another type on the server now"
        case notAnInteger = "the number to be incremented is not there any more"
        case listIsNotThere = "the list is not there on both sides, so it was not copied"
    }
}
