package import Changesets
package import Schemas

/// Where the objects of a realm are kept, as far as applying instructions needs to know.
///
/// A call that throws ends the batch, and the caller rolls the store back.
package protocol ObjectStore {
    associatedtype Failure: Error

    var schema: RealmSchema { get }

    /// Makes the changes, in their order, to `schema` and to the objects.
    ///
    /// A property that was added has its default value on all objects; objects embedded in others
    /// included. What an erased class or property held is gone, and does not come back when one of
    /// the same name is added again.
    mutating func changeSchema(_ changes: [SchemaChange]) throws(Failure)

    /// The object with a value for every property of its class, or nil if there is none of that key.
    mutating func document(for object: ObjectReference) throws(Failure) -> Document?

    /// Stores a new object, or the new values of one that is there.
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

/// Why a changeset could not be applied.
package enum ApplyError<Failure: Error>: Error {
    /// The changeset does not fit the state: the fault of whoever sent it.
    case badInstruction(BadInstruction)
    case store(Failure)
}

extension ApplyError: Equatable where Failure: Equatable {}
extension ApplyError: Sendable where Failure: Sendable {}
