import Changesets
import Documents
import Schemas

/// Removes the links to an object that a recovered change deletes, and records how
/// (local realm, 4.4).
struct LinkRemoval {
    let target: ObjectReference
    let referrer: ObjectReference
    let schema: RealmSchema
    private(set) var writer: ChangesetWriter
    /// Removed list elements, by the field and the steps to the list.
    private(set) var lost: [(place: ListPlace, index: UInt32)] = []

    init(
        of target: ObjectReference,
        from referrer: ObjectReference,
        _ schema: RealmSchema,
        _ writer: ChangesetWriter
    ) {
        self.target = target
        self.referrer = referrer
        self.schema = schema
        self.writer = writer
    }

    mutating func run(_ document: inout Document) {
        guard let owner = schema[referrer.className] else { return }
        for (position, property) in owner.properties.enumerated() {
            guard document.values[position].holdsLink(to: target) else { continue }
            remove(from: &document.values[position], property, property.name, [])
        }
    }

    private mutating func remove(
        from value: inout Value,
        _ property: PropertySchema,
        _ field: Text,
        _ path: [ChangesetWriter.Step]
    ) {
        switch value {
        case .scalar(.link(target)):
            writer.update(referrer, field, path: path, to: .scalar(.null))
            value = .null
        case .scalar:
            break
        case .set(var elements):
            guard elements.erase(.link(target)) else { return }
            writer.setErase(referrer, field, path: path, .link(target))
            value = .set(elements)
        case .list(var elements):
            remove(from: &elements, property, field, path)
            value = .list(elements)
        case .dictionary(var members):
            for key in members.keys.sorted() {
                guard var member = members[key], member.holdsLink(to: target) else { continue }
                remove(from: &member, property, field, path + [.string(key)])
                members[key] = member
            }
            value = .dictionary(members)
        case .object(var document):
            guard case .link(let className) = property.type, let owner = schema[className] else {
                return
            }
            for (position, inner) in owner.properties.enumerated()
            where document.values[position].holdsLink(to: target) {
                let path = path + [.string(inner.name)]
                remove(from: &document.values[position], inner, field, path)
            }
            value = .object(document)
        }
    }

    private mutating func remove(
        from elements: inout [Value],
        _ property: PropertySchema,
        _ field: Text,
        _ path: [ChangesetWriter.Step]
    ) {
        // Backwards, so that the indexes in front stay valid.
        for index in elements.indices.reversed() {
            let place = path + [.index(UInt32(index))]
            if elements[index] == .scalar(.link(target)) {
                writer.arrayErase(referrer, field, path: place, priorSize: UInt32(elements.count))
                elements.remove(at: index)
                if let steps = path.names {
                    let list = ListPlace(object: referrer, field: field, steps: steps)
                    lost.append((list, UInt32(index)))
                }
            } else if elements[index].holdsLink(to: target) {
                remove(from: &elements[index], property, field, place)
            }
        }
    }
}

extension [ChangesetWriter.Step] {
    /// The steps, unless there is a list on the way.
    var names: [Text]? {
        var names: [Text] = []
        for step in self {
            guard case .string(let name) = step else { return nil }
            names.append(name)
        }
        return names
    }
}
