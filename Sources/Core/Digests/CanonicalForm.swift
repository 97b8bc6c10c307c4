package import Changesets
package import Documents
package import Schemas

/// The canonical bytes of a realm's objects, with the properties that both ends compare.
package struct CanonicalForm: Sendable {
    private let classes: [Text: ComparedClass]

    private struct ComparedClass: Sendable {
        let name: Text
        let properties: [ComparedProperty]
    }

    private struct ComparedProperty: Sendable {
        let name: Text
        /// In the documents of the class.
        let position: Int
        /// The class of the objects that it holds, if they are embedded.
        let embedded: Text?
    }

    /// - Parameter properties: the names to compare, of each class, embedded ones included. Others of the
    ///   schema do not count.
    package init(_ schema: RealmSchema, comparing properties: [Text: [Text]]) {
        var classes: [Text: ComparedClass] = [:]
        for (name, wanted) in properties {
            guard let owner = schema[name] else { continue }
            let compared = Set(wanted).sorted().compactMap { name -> ComparedProperty? in
                guard let position = owner.position(of: name) else { return nil }
                var embedded: Text?
                if case .embedded(let target) = schema.elementType(of: owner.properties[position]) {
                    embedded = target
                }
                return ComparedProperty(name: name, position: position, embedded: embedded)
            }
            classes[name] = ComparedClass(name: name, properties: compared)
        }
        self.classes = classes
    }

    /// Every class and property of a schema whose objects stay on both ends.
    package static func properties(of schema: RealmSchema) -> [Text: [Text]] {
        var properties: [Text: [Text]] = [:]
        for owner in schema.classes where !owner.isAsymmetric {
            properties[owner.name] = owner.properties.map(\.name)
        }
        return properties
    }

    package static func bytes(of key: ObjectKey) -> [UInt8] {
        var writer = CanonicalWriter()
        writer.write(key)
        return writer.bytes
    }

    /// An object: its class, its key, then name and value of each property, bytewise by name.
    package func bytes(of document: Document, _ object: ObjectReference) -> [UInt8] {
        var writer = CanonicalWriter()
        writer.write(object.className.bytes)
        writer.write(object.key)
        if let owner = classes[object.className] { write(document, of: owner, to: &writer) }
        return writer.bytes
    }

    /// Name and value of each compared property of an object, in the order of ``bytes(of:_:)``.
    package func properties(
        of document: Document,
        _ className: Text
    ) -> [(name: Text, bytes: [UInt8])] {
        guard let owner = classes[className] else { return [] }
        return owner.properties.map { property in
            var writer = CanonicalWriter()
            write(property, of: document, to: &writer)
            return (property.name, writer.bytes)
        }
    }

    private func write(
        _ document: Document,
        of owner: ComparedClass,
        to writer: inout CanonicalWriter
    ) {
        writer.beginObject(propertyCount: owner.properties.count)
        for property in owner.properties { write(property, of: document, to: &writer) }
    }

    private func write(
        _ property: ComparedProperty,
        of document: Document,
        to writer: inout CanonicalWriter
    ) {
        writer.write(property.name.bytes)
        write(document.values[property.position], property.embedded, to: &writer)
    }

    private func write(_ value: Value, _ embedded: Text?, to writer: inout CanonicalWriter) {
        switch value {
        case .scalar(let scalar): writer.write(scalar)
        case .list(let elements):
            writer.beginList(count: elements.count)
            for element in elements { write(element, embedded, to: &writer) }
        case .set(let set): writer.write(set)
        case .dictionary(let members):
            writer.beginDictionary(count: members.count)
            for (name, member) in members.sorted(by: { $0.key < $1.key }) {
                writer.write(name.bytes)
                write(member, embedded, to: &writer)
            }
        case .object(let document):
            guard let owner = embedded.flatMap({ classes[$0] }) else {
                // Its class is not compared: that it exists counts.
                return writer.beginObject(propertyCount: 0)
            }
            write(document, of: owner, to: &writer)
        }
    }
}
