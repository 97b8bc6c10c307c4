import Changesets
package import Schemas

/// Visits a document and all documents embedded in it, the innermost first.
package struct DocumentWalker {
    let schema: RealmSchema

    package init(schema: RealmSchema) {
        self.schema = schema
    }

    /// Visits the documents embedded in a property's value.
    package func walk(
        _ value: inout Value,
        of property: PropertySchema,
        _ visit: (inout Document, ClassSchema) -> Void
    ) {
        guard case .embedded(let className) = schema.elementType(of: property),
            let embedded = schema[className]
        else { return }
        value.walkDocuments { inner in
            walk(&inner, of: embedded, visit)
        }
    }

    func walk(
        _ document: inout Document,
        of owner: ClassSchema,
        _ visit: (inout Document, ClassSchema) -> Void
    ) {
        for (position, property) in owner.properties.enumerated() {
            walk(&document.values[position], of: property, visit)
        }
        visit(&document, owner)
    }
}

extension Value {
    /// The documents in a property of an embedded class.
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
