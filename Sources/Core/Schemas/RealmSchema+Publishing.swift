package import Changesets

extension RealmSchema {
    /// Whether the schema has classes or properties that the other lacks.
    package func hasAdditions(to published: RealmSchema) -> Bool {
        classes.contains { schema in
            guard let known = published[schema.name] else { return true }
            return schema.properties.contains { known.position(of: $0.name) == nil }
        }
    }

    /// Writes what the other side must learn before the first object: AddTable for every new class,
    /// by name, then AddColumn for every new property in its order (instruction semantics, 5.2).
    ///
    /// The primary key gets no AddColumn. Contradictions to `published` are not written: find them
    /// first with `conflicts(withDeclared:)`.
    package func writeAdditions(to published: RealmSchema, into writer: inout ChangesetWriter) {
        let classes = classes.sorted { $0.name < $1.name }
        for schema in classes where published[schema.name] == nil {
            writer.addClass(schema)
        }
        for schema in classes {
            let known = published[schema.name]
            for property in schema.properties where known?.position(of: property.name) == nil {
                writer.addProperty(property, to: schema.name)
            }
        }
    }
}

extension ChangesetWriter {
    package mutating func addClass(_ schema: ClassSchema) {
        guard let key = schema.primaryKey else { return addEmbeddedClass(schema.name) }
        addTopLevelClass(
            schema.name,
            primaryKey: key.name,
            type: key.type,
            isNullable: key.isNullable,
            isAsymmetric: schema.isAsymmetric
        )
    }

    package mutating func addProperty(_ property: PropertySchema, to className: Text) {
        var target: Text?
        if case .link(let name) = property.type { target = name }
        addColumn(
            property.name,
            to: className,
            type: property.type.typeCode,
            // Mixed and links have their actual nullability, not the declared one (changesets spec,
            // 5).
            isNullable: property.acceptsNull,
            collection: property.collection,
            linkTarget: target
        )
    }
}
