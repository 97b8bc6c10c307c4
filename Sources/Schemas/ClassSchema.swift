package import Changesets

/// One class of a realm: its kind, its primary key and its properties (instruction semantics, 1.1).
package struct ClassSchema: Hashable, Sendable {
    package let name: Text
    package let kind: Kind
    /// In the order they were added; the primary key is not among them.
    package var properties: [PropertySchema]

    package init(name: Text, kind: Kind, properties: [PropertySchema] = []) {
        self.name = name
        self.kind = kind
        self.properties = properties
    }

    package enum Kind: Hashable, Sendable {
        case topLevel(PrimaryKeySchema)
        case embedded
        /// Write-only: objects vanish locally once they are captured for upload.
        case asymmetric(PrimaryKeySchema)
    }

    /// Nil for an embedded class.
    package var primaryKey: PrimaryKeySchema? {
        switch kind {
        case .topLevel(let key), .asymmetric(let key): key
        case .embedded: nil
        }
    }

    package var isEmbedded: Bool { kind == .embedded }

    package func property(named name: Text) -> PropertySchema? {
        properties.first { $0.name == name }
    }
}

/// How a class identifies its objects (instruction semantics, 1.2).
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
}
