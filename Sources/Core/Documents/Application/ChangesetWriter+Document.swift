package import Changesets
package import Schemas

/// Objects as the instructions that create them.
extension ChangesetWriter {
    /// Writes the creation of an object, then every value that a new object does not already have
    /// (instruction semantics, 1.5), in the order of the class.
    ///
    /// The document must be one of the class, and `schema` must hold the classes it embeds. Links
    /// are written whether or not their targets exist: they become valid when those are created.
    package mutating func writeObject(
        _ document: Document,
        as object: ObjectReference,
        of owner: ClassSchema,
        in schema: RealmSchema
    ) {
        createObject(object)
        for position in 0..<min(owner.properties.count, document.values.count) {
            writeProperty(document.values[position], at: position, of: owner, in: object, schema)
        }
    }

    /// Writes a property of a new object, unless it has its default value.
    mutating func writeProperty(
        _ value: Value,
        at position: Int,
        of owner: ClassSchema,
        in object: ObjectReference,
        _ schema: RealmSchema
    ) {
        let property = owner.properties[position]
        guard value != property.defaultValue else { return }
        let place = DocumentPlace(
            object: object,
            field: property.name,
            embedded: schema.embeddedClass(of: property),
            schema: schema
        )
        writeProperty(value, property, at: place)
    }

    private mutating func writeProperty(
        _ value: Value,
        _ property: PropertySchema,
        at place: DocumentPlace
    ) {
        // Typed collections are created with the object; those in Mixed need an instruction.
        if property.collection == .single {
            if case .scalar(let new) = value,
                property.defaultValue.mustGiveWay(to: value, isMixed: false, isElement: false)
            {
                makeUnequal(place.object, place.field, path: place.path, to: new)
            }
            update(place.object, place.field, path: place.path, to: value.content)
        }
        writeContents(of: value, at: place)
    }

    private mutating func writeContents(of value: Value, at place: DocumentPlace) {
        switch value {
        case .scalar:
            break
        case .list(let elements):
            for (index, element) in elements.enumerated() {
                let inner = place.at(.index(UInt32(index)))
                arrayInsert(
                    inner.object,
                    inner.field,
                    path: inner.path,
                    element.content,
                    priorSize: UInt32(index)
                )
                writeContents(of: element, at: inner)
            }
        case .set(let set):
            for element in set.elements {
                setInsert(place.object, place.field, path: place.path, element)
            }
        case .dictionary(let members):
            for (key, member) in members.sorted(by: { $0.key < $1.key }) {
                let inner = place.at(.string(key))
                update(inner.object, inner.field, path: inner.path, to: member.content)
                writeContents(of: member, at: inner)
            }
        case .object(let document):
            guard let embedded = place.embedded else {
                preconditionFailure("the class of an embedded object is not known")
            }
            for (property, value) in zip(embedded.properties, document.values)
            where value != property.defaultValue {
                var inner = place.at(.string(property.name))
                inner.embedded = place.schema.embeddedClass(of: property)
                writeProperty(value, property, at: inner)
            }
        }
    }
}

/// The place in an object to write to.
private struct DocumentPlace {
    let object: ObjectReference
    let field: Text
    var path: [ChangesetWriter.Step] = []
    /// The class of embedded objects that are allowed there.
    var embedded: ClassSchema?
    let schema: RealmSchema

    func at(_ step: ChangesetWriter.Step) -> DocumentPlace {
        var place = self
        place.path.append(step)
        return place
    }
}

extension RealmSchema {
    fileprivate func embeddedClass(of property: PropertySchema) -> ClassSchema? {
        guard case .link(let target) = property.type else { return nil }
        return self[target].flatMap { $0.isEmbedded ? $0 : nil }
    }
}
