import Changesets
import Schemas

/// Visits a document and all documents embedded in it, the innermost first.
struct DocumentWalker {
    let schema: RealmSchema

    func walk(
        _ document: inout Document,
        of owner: ClassSchema,
        _ visit: (inout Document, ClassSchema) -> Void
    ) {
        for (position, property) in owner.properties.enumerated() {
            guard case .embedded(let className) = schema.elementType(of: property),
                let embedded = schema[className]
            else { continue }
            document.values[position].walkDocuments { inner in
                walk(&inner, of: embedded, visit)
            }
        }
        visit(&document, owner)
    }
}

extension Value {
    /// The documents that a property of an embedded class holds.
    fileprivate mutating func walkDocuments(_ visit: (inout Document) -> Void) {
        switch self {
        case .object(var document):
            visit(&document)
            self = .object(document)
        case .list(var elements):
            for index in elements.indices {
                elements[index].walkDocuments(visit)
            }
            self = .list(elements)
        case .dictionary(var members):
            for index in members.indices {
                members.values[index].walkDocuments(visit)
            }
            self = .dictionary(members)
        case .scalar, .set:
            break
        }
    }
}
