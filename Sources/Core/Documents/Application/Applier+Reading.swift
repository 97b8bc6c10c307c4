package import Changesets
import Schemas

extension Applier {
    /// The object with all changes so far; nil if it does not exist.
    package func document(
        for object: ObjectReference,
        in store: inout Store
    ) throws(Store.Failure) -> Document? {
        switch known(object) {
        case .some(let document): document
        case nil: try store.document(for: object)
        }
    }
}
