import Changesets
import Schemas

/// The parts of a changeset.
extension Changeset {
    /// The objects that it changes, each once, in order.
    var objects: [ObjectReference] {
        var seen: Set<ObjectReference> = []
        return instructions.compactMap { instruction in
            guard let object = instruction.objectTarget.map(reference) else { return nil }
            return seen.insert(object).inserted ? object : nil
        }
    }

    /// The properties of each object that it changes.
    var changedFields: [ObjectReference: Set<Text>] {
        var fields: [ObjectReference: Set<Text>] = [:]
        for instruction in instructions {
            guard let path = instruction.pathTarget else { continue }
            fields[reference(path.object), default: []].insert(text(path.field))
        }
        return fields
    }

    /// The same without changes of some objects.
    func removing(_ objects: Set<ObjectReference>) -> Changeset {
        guard !objects.isEmpty else { return self }
        return Changeset(
            strings: strings,
            instructions: instructions.filter { instruction in
                guard let target = instruction.objectTarget else { return true }
                return !objects.contains(reference(target))
            }
        )
    }

    /// The same without changes of the schema.
    var objectChangesOnly: Changeset {
        Changeset(strings: strings, instructions: instructions.filter { !$0.changesSchema })
    }

    /// The same without changes of objects.
    var schemaChangesOnly: Changeset {
        Changeset(strings: strings, instructions: instructions.filter(\.changesSchema))
    }
}
