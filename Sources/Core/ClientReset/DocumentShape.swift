package import Changesets
package import Documents
package import Schemas

/// Converts documents from one schema to another that has the same properties, or more of them.
package struct DocumentShape: Sendable {
    private let source: RealmSchema
    private let target: RealmSchema
    private let isIdentity: Bool

    package init(from source: RealmSchema, to target: RealmSchema) {
        self.source = source
        self.target = target
        self.isIdentity = source == target
    }

    /// The document with the properties of the target's class, in its order; new ones have their
    /// default.
    package func convert(_ document: Document, of className: Text) -> Document {
        guard !isIdentity, let old = source[className], let new = target[className] else {
            return document
        }
        return Document(
            values: new.properties.map { property in
                guard let position = old.position(of: property.name) else {
                    return property.defaultValue
                }
                return convert(document.values[position], of: property)
            }
        )
    }

    /// A value of the property, or an element of the collection that it holds.
    package func convert(_ value: Value, of property: PropertySchema) -> Value {
        guard !isIdentity, case .link(let name) = property.type, target[name]?.isEmbedded == true
        else { return value }
        return convert(value, ofEmbedded: name)
    }

    private func convert(_ value: Value, ofEmbedded className: Text) -> Value {
        switch value {
        case .object(let document): .object(convert(document, of: className))
        case .list(let elements): .list(elements.map { convert($0, ofEmbedded: className) })
        case .dictionary(let members):
            .dictionary(members.mapValues { convert($0, ofEmbedded: className) })
        case .scalar, .set: value
        }
    }
}
