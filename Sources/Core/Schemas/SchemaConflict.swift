package import Changesets

/// Two definitions of one class or property that cannot both hold (local realm, 7).
package struct SchemaConflict: Error, Hashable, Sendable {
    package let className: Text
    /// Nil if the classes themselves differ: in kind or primary key.
    package let property: Text?
    /// The existing definition, as in a schema file.
    package let existing: String
    /// The requested definition.
    package let declared: String

    package init(className: Text, property: Text? = nil, existing: String, declared: String) {
        self.className = className
        self.property = property
        self.existing = existing
        self.declared = declared
    }
}

extension SchemaConflict: CustomStringConvertible {
    /// "Task.due is timestamp?, but is declared as string".
    package var description: String {
        let name = property.map { "\(className).\($0)" } ?? "\(className)"
        return "\(name) is \(existing), but is declared as \(declared)"
    }
}

extension RealmSchema {
    /// The definitions of the other schema that contradict this one, in the order of the other.
    ///
    /// Classes and properties that only one of the two has are not conflicts: they can be added.
    package func conflicts(withDeclared declared: RealmSchema) -> [SchemaConflict] {
        declared.classes.flatMap { other in
            self[other.name].map { conflicts(of: $0, with: other, in: declared) } ?? []
        }
    }

    private func conflicts(
        of existing: ClassSchema,
        with declared: ClassSchema,
        in schema: RealmSchema
    ) -> [SchemaConflict] {
        guard existing.kind == declared.kind else {
            return [
                SchemaConflict(
                    className: declared.name,
                    existing: existing.kind.definition,
                    declared: declared.kind.definition
                )
            ]
        }
        return declared.properties.compactMap { property in
            // Compares the actual nullability, not that of the column.
            guard let other = existing.property(named: property.name),
                !other.hasSameType(as: property) || other.acceptsNull != property.acceptsNull
            else { return nil }
            return SchemaConflict(
                className: declared.name,
                property: property.name,
                existing: definition(of: other),
                declared: schema.definition(of: property)
            )
        }
    }
}

extension PropertySchema {
    /// Equal except for nullability.
    func hasSameType(as other: PropertySchema) -> Bool {
        type == other.type && collection == other.collection
    }
}
