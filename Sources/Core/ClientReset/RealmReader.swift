package import Changesets
package import Documents
package import Schemas

/// A state of a realm, as far as recovery needs to read it.
package protocol RealmReader {
    var schema: RealmSchema { get }

    /// The object with a value for every property of its class, or nil if there is none with that
    /// key.
    func document(for object: ObjectReference) throws -> Document?

    /// Objects that link to that one at any depth; may include others as well.
    func referrers(to object: ObjectReference) throws -> [ObjectReference]
}

extension InMemoryRealm: RealmReader {
    package func referrers(to object: ObjectReference) -> [ObjectReference] {
        objects.flatMap { className, documents in
            documents.filter { $0.value.values.contains { $0.holdsLink(to: object) } }.keys
                .map { ObjectReference(className: className, key: $0) }
        }
    }
}

extension Value {
    /// Whether the value is, or contains at any depth, a link to that object.
    func holdsLink(to object: ObjectReference) -> Bool {
        var isFound = false
        visitLinks { isFound = isFound || $0 == object }
        return isFound
    }

    func visitLinks(_ visit: (ObjectReference) -> Void) {
        switch self {
        case .scalar(.link(let link)): visit(link)
        case .scalar: break
        case .list(let elements): for element in elements { element.visitLinks(visit) }
        case .set(let elements):
            for case .link(let link) in elements.elements { visit(link) }
        case .dictionary(let members): for member in members.values { member.visitLinks(visit) }
        case .object(let document): for value in document.values { value.visitLinks(visit) }
        }
    }
}
