package import Changesets
package import Schemas

/// The storage of a realm's objects, as far as applying instructions requires.
///
/// A call that throws ends the batch, and the caller rolls the store back.
package protocol ObjectStore {
    associatedtype Failure: Error

    var schema: RealmSchema { get }

    /// Applies the changes, in their order, to `schema` and to the objects.
    ///
    /// A new property has its default value on all objects, embedded ones included. The values of
    /// an erased class or property are deleted, and do not come back if one of the same name is
    /// added again.
    mutating func changeSchema(_ changes: [SchemaChange]) throws(Failure)

    /// The object with a value for every property of its class, or nil if there is none with that
    /// key.
    mutating func document(for object: ObjectReference) throws(Failure) -> Document?

    /// Stores a new object, or the new values of an existing one.
    mutating func setDocument(
        _ document: Document,
        for object: ObjectReference
    ) throws(Failure)

    /// Stores an object that is expected to be new.
    mutating func addDocument(
        _ document: Document,
        for object: ObjectReference
    ) throws(Failure)

    /// Removes the object if there is one; links to it stay as they are.
    mutating func removeDocument(for object: ObjectReference) throws(Failure)
}

extension ObjectStore {
    package mutating func addDocument(
        _ document: Document,
        for object: ObjectReference
    ) throws(Failure) {
        try setDocument(document, for: object)
    }
}

/// The error of applying a changeset.
package enum ApplyError<Failure: Error>: Error {
    /// The changeset does not fit the state; its sender is at fault.
    case badInstruction(BadInstruction)
    case store(Failure)
}

extension ApplyError: Equatable where Failure: Equatable {}
extension ApplyError: Sendable where Failure: Sendable {}
