package import Changesets
package import Query

/// The effect of one uploaded changeset on one top-level object. Changes of an embedded object count
/// as changes of its owner.
package struct ObjectWrite<Object: QueryableObject> {
    package let reference: ObjectReference
    /// Nil: the object did not exist.
    package let old: Object?
    /// Nil: the object does not exist any more.
    package let new: Object?
    /// The properties that the changeset sets or edits, without the primary key.
    package let changedFields: Set<Text>

    package init(
        _ reference: ObjectReference,
        old: Object?,
        new: Object?,
        changedFields: Set<Text>
    ) {
        self.reference = reference
        self.old = old
        self.new = new
        self.changedFields = changedFields
    }
}
