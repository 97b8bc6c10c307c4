import Changesets
import Schemas

/// The schema changes that clients may make (app services, 12.2): never a removal, and additions
/// only in development mode. Also the types of values that the app's clients bear.
struct SchemaPolicy: Hashable, Sendable {
    let allowsAdditions: Bool
    /// Whether mixed properties may hold lists and dictionaries.
    let allowsCollectionsInMixed: Bool

    init(allowsAdditions: Bool, allowsCollectionsInMixed: Bool = true) {
        self.allowsAdditions = allowsAdditions
        self.allowsCollectionsInMixed = allowsCollectionsInMixed
    }

    /// Checks the schema instructions of a changeset against the schema, and applies them to it.
    func admit(
        _ changeset: Changeset,
        to schema: inout RealmSchema
    ) throws(IntegrationRefusal) {
        for instruction in changeset.instructions where instruction.changesSchema {
            switch instruction {
            case .eraseTable(let name):
                throw Self.destructive("class \(changeset.text(name))")
            case .eraseColumn(let className, let field):
                throw Self.destructive("\(changeset.text(className)).\(changeset.text(field))")
            default:
                break
            }
            switch try apply(instruction, changeset.strings, to: &schema) {
            case .classAdded(let added)? where !allowsAdditions:
                throw Self.closed("class \(added.name)")
            case .propertyAdded(let added, let className)? where !allowsAdditions:
                throw Self.closed("\(className).\(added.name)")
            case .classAdded, .propertyAdded, .classErased, .propertyErased, nil:
                break
            }
        }
    }

    private func apply(
        _ instruction: Instruction,
        _ strings: StringTable,
        to schema: inout RealmSchema
    ) throws(IntegrationRefusal) -> SchemaChange? {
        do throws(BadInstruction) {
            return try schema.apply(instruction, strings: strings)
        } catch {
            guard case .conflict(let conflict) = error.problem else {
                throw .badChangeset(reason: "\(error)")
            }
            throw .schemaChange(reason: "\(conflict)")
        }
    }

    private static func destructive(_ what: String) -> IntegrationRefusal {
        .schemaChange(reason: "\(what) cannot be removed by a client")
    }

    private static func closed(_ what: String) -> IntegrationRefusal {
        .schemaChange(
            reason: "\(what) is not part of the schema, and development mode is off"
        )
    }
}
