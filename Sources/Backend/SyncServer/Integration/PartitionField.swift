import Changesets
import Schemas
import Scopes

/// The field with the partition of each object, which the server sets where the creator's class lacks it
/// (moving an app, 13, N8).
struct PartitionField {
    let name: Text
    private let value: Scalar
    private let type: PropertyType
    /// Objects that were created without the field, with their order.
    private var lacking: [ObjectReference: Int] = [:]
    private var createdCount = 0

    /// Nil for the null partition: its objects have no value.
    init?(_ name: Text, of partition: Partition) {
        switch partition {
        case .null: return nil
        case .string(let text): (self.value, self.type) = (.string(text), .string)
        case .int(let number): (self.value, self.type) = (.int(number), .int)
        case .objectID(let id): (self.value, self.type) = (.objectID(id), .objectID)
        case .uuid(let id): (self.value, self.type) = (.uuid(id), .uuid)
        }
        self.name = name
    }

    /// Whether all objects so far have the field.
    var isComplete: Bool { lacking.isEmpty }

    /// Takes in a changeset of a client, as it was integrated into a file of the schema.
    mutating func note(_ changeset: Changeset, _ schema: RealmSchema) {
        // Usually of the next object's class, too: comparing a name is cheaper than looking it up.
        var last: (className: Text, hasField: Bool)?
        for instruction in changeset.instructions {
            switch instruction {
            case .createObject(let target):
                let className = changeset.text(target.className)
                if last?.className != className {
                    last = (className, isField(of: className, schema))
                }
                guard last?.hasField == true else { continue }
                lacking[changeset.reference(target)] = createdCount
                createdCount += 1
            case .eraseObject(let target):
                guard !lacking.isEmpty else { continue }
                lacking[changeset.reference(target)] = nil
            default:
                guard !lacking.isEmpty, let path = instruction.pathTarget,
                    changeset.text(path.field) == name
                else { continue }
                lacking[changeset.reference(path.object)] = nil
            }
        }
    }

    private func isField(of className: Text, _ schema: RealmSchema) -> Bool {
        guard let owner = schema[className], !owner.isAsymmetric,
            let property = owner.property(named: name)
        else { return false }
        return property.type == type && property.collection == .single
    }

    /// Sets the field of these objects; nil if there are none.
    var changeset: [UInt8]? {
        guard !lacking.isEmpty else { return nil }
        var writer = ChangesetWriter()
        for (object, _) in lacking.sorted(by: { $0.value < $1.value }) {
            writer.update(object, name, to: .scalar(value))
        }
        return writer.bytes
    }
}
