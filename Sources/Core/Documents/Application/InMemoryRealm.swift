package import Changesets
package import Schemas

/// A whole realm as a value: copy it before a batch, and a failed batch can be dropped.
package struct InMemoryRealm: Sendable {
    package private(set) var schema: RealmSchema
    /// Objects by class and key; a class without objects may be left out.
    package private(set) var objects: [Text: [ObjectKey: Document]] = [:]

    package init(schema: RealmSchema = RealmSchema()) {
        self.schema = schema
    }

    /// Applies the changeset, or leaves the realm as it is.
    package mutating func apply(_ changeset: Changeset) throws(BadInstruction) {
        // Objects are written at the end, but the schema is changed on the way.
        let before = changeset.instructions.contains(where: \.changesSchema) ? self : nil
        do throws(ApplyError<Never>) {
            try apply(CollectionOfOne(changeset))
        } catch {
            if let before { self = before }
            switch error {
            case .badInstruction(let error): throw error
            }
        }
    }

    /// A value of an object by the name of its property; nil if the object or property does not
    /// exist.
    package func value(_ property: Text, of object: ObjectReference) -> Value? {
        guard let owner = schema[object.className] else { return nil }
        return objects[object.className]?[object.key]?.value(of: property, in: owner)
    }

    /// Whether the link's target does not exist: applications then see null, or nothing
    /// (instruction semantics, 1.6).
    package func isDangling(_ link: ObjectReference) -> Bool {
        objects[link.className]?[link.key] == nil
    }
}

extension InMemoryRealm: ObjectStore {
    package typealias Failure = Never

    package func document(for object: ObjectReference) -> Document? {
        objects[object.className]?[object.key]
    }

    package mutating func setDocument(_ document: Document, for object: ObjectReference) {
        objects[object.className, default: [:]][object.key] = document
    }

    package mutating func removeDocument(for object: ObjectReference) {
        objects[object.className]?[object.key] = nil
    }

    package mutating func changeSchema(_ changes: [SchemaChange]) {
        for change in changes {
            switch change {
            case .classAdded:
                break
            case .classErased(let erased):
                objects[erased.name] = nil
            case .propertyAdded(let property, let className):
                editDocuments(of: className) { $0.values.append(property.defaultValue) }
            case .propertyErased(_, let className, let position):
                editDocuments(of: className) { $0.values.remove(at: position) }
            }
            schema.replay(change)
        }
    }

    /// Edits all documents of a class, embedded ones included.
    private mutating func editDocuments(of className: Text, _ edit: (inout Document) -> Void) {
        let walker = DocumentWalker(schema: schema)
        for owner in schema.classes where owner.name == className || schema.embedsObjects(owner) {
            objects[owner.name]?.editValues { document in
                walker.walk(&document, of: owner) { document, schema in
                    if schema.name == className { edit(&document) }
                }
            }
        }
    }
}

extension InMemoryRealm: Equatable {
    /// Whether classes, properties, objects and values are the same.
    ///
    /// The order in which classes and properties were added is not compared: two replicas that have
    /// learned them from different peers have different orders.
    package static func == (left: InMemoryRealm, right: InMemoryRealm) -> Bool {
        left.schema == right.schema
            ? left.hasSameObjects(as: right)
            : left.sortedByName().hasSameState(as: right.sortedByName())
    }

    private func hasSameState(as other: InMemoryRealm) -> Bool {
        schema == other.schema && hasSameObjects(as: other)
    }

    private func hasSameObjects(as other: InMemoryRealm) -> Bool {
        objects.filter { !$0.value.isEmpty } == other.objects.filter { !$0.value.isEmpty }
    }

    private func sortedByName() -> InMemoryRealm {
        let walker = DocumentWalker(schema: schema)
        var sorted = InMemoryRealm(schema: schema.sortedByName())
        for owner in schema.classes {
            guard var documents = objects[owner.name] else { continue }
            documents.editValues { document in
                walker.walk(&document, of: owner) { document, schema in
                    let order = schema.properties.indices.sorted {
                        schema.properties[$0].name < schema.properties[$1].name
                    }
                    document = Document(values: order.map { document.values[$0] })
                }
            }
            sorted.objects[owner.name] = documents
        }
        return sorted
    }
}

extension RealmSchema {
    fileprivate func sortedByName() -> RealmSchema {
        RealmSchema(
            classes.sorted { $0.name < $1.name }.map { schema in
                ClassSchema(
                    name: schema.name,
                    kind: schema.kind,
                    properties: schema.properties.sorted { $0.name < $1.name }
                )
            }
        )
    }

    fileprivate func embedsObjects(_ owner: ClassSchema) -> Bool {
        owner.properties.contains { property in
            if case .embedded = elementType(of: property) { true } else { false }
        }
    }
}

extension Dictionary {
    fileprivate mutating func editValues(_ edit: (inout Value) -> Void) {
        for index in indices {
            edit(&values[index])
        }
    }
}
