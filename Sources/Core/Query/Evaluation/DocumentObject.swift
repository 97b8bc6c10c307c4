package import Changesets
package import Documents
package import Schemas

/// A stored object as queries of subscriptions read it.
package struct DocumentObject: QueryableObject {
    package let key: ObjectKey
    package let document: Document
    private let schema: ClassSchema

    package init(key: ObjectKey, _ document: Document, of schema: ClassSchema) {
        self.key = key
        self.document = document
        self.schema = schema
    }

    /// A document that was stored before a property was added has the property's default.
    package func value(of field: QueryField) -> Value {
        guard let position = field.position else { return .scalar(key.scalar) }
        if position < document.values.count { return document.values[position] }
        return position < schema.properties.count
            ? schema.properties[position].defaultValue : .null
    }
}

extension ObjectKey {
    /// Null for an object without a primary key, which no query can name.
    package var scalar: Scalar {
        switch self {
        case .null, .globalKey: .null
        case .int(let value): .int(value)
        case .string(let value): .string(value)
        case .objectID(let value): .objectID(value)
        case .uuid(let value): .uuid(value)
        }
    }
}
