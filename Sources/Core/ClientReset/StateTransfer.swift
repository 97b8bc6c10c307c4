package import Changesets
package import Documents
package import Schemas

/// The rules for making one realm equal to another, independent of their storage (client reset, 5).
package enum StateTransfer {
    /// Checks that the source has everything of the local schema, with the same definitions.
    ///
    /// - Returns: whether the source has classes or properties that the local realm lacks.
    package static func checkSchema(
        of local: RealmSchema,
        against source: RealmSchema
    ) throws(ResetFailure) -> Bool {
        try checkAgreement(of: local, with: source)
        let removed = local.classes.map(\.name).filter { source[$0] == nil }
        guard removed.isEmpty else { throw .classesRemoved(removed.sorted()) }
        for owner in local.classes {
            let gone = owner.properties.filter {
                source[owner.name]?.position(of: $0.name) == nil
            }
            guard gone.isEmpty else {
                throw .propertiesRemoved(
                    owner.name,
                    gone.map { "\($0.name): \(local.definition(of: $0))" }
                )
            }
        }
        return source.hasAdditions(to: local)
    }

    /// Checks that the two schemas do not contradict each other: no replayed change could resolve
    /// that.
    package static func checkAgreement(
        of local: RealmSchema,
        with source: RealmSchema
    ) throws(ResetFailure) {
        let conflicts = local.conflicts(withDeclared: source)
        guard conflicts.isEmpty else { throw .schemaConflict(conflicts) }
    }

    /// The values to set, by the position of their property; both documents have the same shape.
    package static func differences(
        from local: Document,
        to source: Document
    ) -> [(position: Int, value: Value)] {
        zip(local.values, source.values).enumerated().compactMap { position, pair in
            pair.0 == pair.1 ? nil : (position, pair.1)
        }
    }
}

extension InMemoryRealm {
    /// Adopts the classes and objects of the source; equal values are not written.
    ///
    /// - Returns: the changed objects.
    package mutating func becomeEqual(
        to source: InMemoryRealm
    ) throws(ResetFailure) -> Set<ObjectReference> {
        _ = try StateTransfer.checkSchema(of: schema, against: source.schema)
        changeSchema(schema.additions(from: source.schema))
        let shape = DocumentShape(from: source.schema, to: schema)
        var changed: Set<ObjectReference> = []
        for owner in schema.classes where !owner.isEmbedded {
            let (mine, theirs) = (objects[owner.name] ?? [:], source.objects[owner.name] ?? [:])
            for key in Set(mine.keys).union(theirs.keys) {
                let object = ObjectReference(className: owner.name, key: key)
                guard !owner.isAsymmetric, let new = theirs[key] else {
                    removeDocument(for: object)
                    changed.insert(object)
                    continue
                }
                let document = shape.convert(new, of: owner.name)
                guard document != mine[key] else { continue }
                setDocument(document, for: object)
                changed.insert(object)
            }
        }
        return changed
    }

    /// The state with recovered changes applied.
    package func applying(_ state: RecoveredState<InMemoryRealm>) -> InMemoryRealm {
        var result = self
        result.changeSchema(schema.additions(from: state.schema))
        for (object, document) in state.changes {
            if let document {
                result.setDocument(document, for: object)
            } else {
                result.removeDocument(for: object)
            }
        }
        return result
    }
}

extension RealmSchema {
    /// The changes that add the other schema's extra classes, then its extra properties.
    package func additions(from other: RealmSchema) -> [SchemaChange] {
        let classes = other.classes.filter { self[$0.name] == nil }.map {
            SchemaChange.classAdded(ClassSchema(name: $0.name, kind: $0.kind))
        }
        let properties = other.classes.flatMap { owner in
            owner.properties.filter { self[owner.name]?.position(of: $0.name) == nil }.map {
                SchemaChange.propertyAdded($0, className: owner.name)
            }
        }
        return classes + properties
    }
}
