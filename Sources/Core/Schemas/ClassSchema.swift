package import Changesets

/// One class of a realm: its kind, its primary key and its properties (instruction semantics, 1.1).
package struct ClassSchema: Hashable, Sendable {
    package let name: Text
    package let kind: Kind
    /// In order of addition; the primary key is not among them.
    package private(set) var properties: [PropertySchema]
    private var positions: [Text: Int]

    package init(name: Text, kind: Kind, properties: [PropertySchema] = []) {
        self.name = name
        self.kind = kind
        self.properties = []
        self.positions = [:]
        for property in properties {
            update(property)
        }
    }

    package enum Kind: Hashable, Sendable {
        case topLevel(PrimaryKeySchema)
        case embedded
        /// Write-only: objects are deleted locally once they are captured for upload.
        case asymmetric(PrimaryKeySchema)
    }

    /// Nil for an embedded class.
    package var primaryKey: PrimaryKeySchema? {
        switch kind {
        case .topLevel(let key), .asymmetric(let key): key
        case .embedded: nil
        }
    }

    package var isEmbedded: Bool {
        if case .embedded = kind { true } else { false }
    }

    package var isAsymmetric: Bool {
        if case .asymmetric = kind { true } else { false }
    }

    /// Whether the key is valid for objects of the class.
    package func accepts(_ key: ObjectKey) -> Bool {
        switch kind {
        case .topLevel(let schema), .asymmetric(let schema): schema.accepts(key)
        case .embedded: false
        }
    }

    package func property(named name: Text) -> PropertySchema? {
        position(of: name).map { properties[$0] }
    }

    /// The property's position in `properties`.
    package func position(of name: Text) -> Int? {
        positions[name]
    }

    /// Adds the property, or replaces the one of the same name in its place.
    package mutating func update(_ property: PropertySchema) {
        if let position = positions[property.name] {
            properties[position] = property
        } else {
            positions[property.name] = properties.count
            properties.append(property)
        }
    }

    package mutating func remove(_ name: Text) {
        guard let position = positions.removeValue(forKey: name) else { return }
        properties.remove(at: position)
        for index in position..<properties.count {
            positions[properties[index].name] = index
        }
    }
}

/// The primary key of a class, or its absence (instruction semantics, 1.2).
package struct PrimaryKeySchema: Hashable, Sendable {
    /// Empty for a class without primary key.
    package let name: Text
    package let type: PrimaryKeyType
    package let isNullable: Bool

    package init(name: Text, type: PrimaryKeyType, isNullable: Bool) {
        self.name = name
        self.type = type
        self.isNullable = isNullable
    }

    /// Of a class without primary key: its objects carry a `GlobalKey`.
    package static let none = PrimaryKeySchema(name: .empty, type: .globalKey, isNullable: false)

    /// Whether the key is valid for objects of such a class.
    package func accepts(_ key: ObjectKey) -> Bool {
        switch (key, type) {
        case (.null, _): isNullable
        case (.int, .int), (.string, .string), (.objectID, .objectID), (.uuid, .uuid),
            (.globalKey, .globalKey):
            true
        case (.int, _), (.string, _), (.objectID, _), (.uuid, _), (.globalKey, _): false
        }
    }
}
