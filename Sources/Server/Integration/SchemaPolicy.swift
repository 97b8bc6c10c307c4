import Changesets
import Schemas

/// What clients may do to an app's schema (app services, 12.2): nothing is ever taken away, and only
/// development mode lets them add.
package struct SchemaPolicy: Hashable, Sendable {
    package let allowsAdditions: Bool

    package init(allowsAdditions: Bool) {
        self.allowsAdditions = allowsAdditions
    }

    /// Checks the schema instructions of a changeset against the schema it meets.
    func check(
        _ changeset: Changeset,
        against schema: RealmSchema
    ) throws(IntegrationRefusal) {
        var schema = schema
        for instruction in changeset.instructions where instruction.changesSchema {
            let change: SchemaChange?
            do throws(BadInstruction) {
                change = try schema.apply(instruction, strings: changeset.strings)
            } catch {
                throw .schemaChange(reason: "\(error)")
            }
            switch change {
            case nil:
                break
            case .classErased(let schema):
                throw .schemaChange(reason: "class \(schema.name) cannot be removed by a client")
            case .propertyErased(let property, let className, _):
                throw .schemaChange(
                    reason: "\(className).\(property.name) cannot be removed by a client"
                )
            case .classAdded(let schema):
                guard allowsAdditions else { throw Self.closed("class \(schema.name)") }
            case .propertyAdded(let property, let className):
                guard allowsAdditions else { throw Self.closed("\(className).\(property.name)") }
            }
        }
    }

    private static func closed(_ what: String) -> IntegrationRefusal {
        .schemaChange(
            reason: "\(what) is not part of the schema, and development mode is off"
        )
    }
}
