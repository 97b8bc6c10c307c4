import Changesets
import ClientReset
import Schemas
import Testing

/// Client reset, 5.1.
@Suite("Schemas of a realm and of the server in a reset")
struct StateTransferTests {
    private static let name = PropertySchema(name: "name", type: .string, isNullable: true)

    private func task(
        _ properties: [PropertySchema] = [name],
        key: PrimaryKeySchema = PrimaryKeySchema(name: "_id", type: .int, isNullable: false)
    ) -> RealmSchema {
        RealmSchema([ClassSchema(name: "Task", kind: .topLevel(key), properties: properties)])
    }

    /// The reason why the realm cannot be reset.
    private func failure(of local: RealmSchema, against source: RealmSchema) -> ResetFailure? {
        do throws(ResetFailure) {
            _ = try StateTransfer.checkSchema(of: local, against: source)
            return nil
        } catch {
            return error
        }
    }

    @Test("A definition missing on the server is named as in the realm")
    func removed() {
        let failure = failure(of: task(), against: task([]))
        #expect(failure == .propertiesRemoved("Task", ["name: string?"]))
        #expect("\(failure as Any)".contains("name: string?"))
        #expect(self.failure(of: task(), against: RealmSchema()) == .classesRemoved(["Task"]))
    }

    @Test("A different definition is named with both versions")
    func changed() {
        let others: [(RealmSchema, here: String, there: String)] = [
            (
                task([PropertySchema(name: "name", type: .int, isNullable: true)]), "string?",
                "int?"
            ),
            (
                task([PropertySchema(name: "name", type: .string, isNullable: false)]), "string?",
                "string"
            ),
            (
                task([
                    PropertySchema(
                        name: "name",
                        type: .string,
                        isNullable: true,
                        collection: .list
                    )
                ]), "string?", "list<string?>"
            ),
            (
                task(key: PrimaryKeySchema(name: "_id", type: .string, isNullable: false)),
                "primary key _id: int", "primary key _id: string"
            ),
            (
                task(key: PrimaryKeySchema(name: "id", type: .int, isNullable: false)),
                "primary key _id: int", "primary key id: int"
            ),
            (
                RealmSchema([
                    ClassSchema(name: "Task", kind: .embedded, properties: [Self.name])
                ]), "primary key _id: int", "embedded"
            ),
            (
                RealmSchema([
                    ClassSchema(
                        name: "Task",
                        kind: .asymmetric(
                            PrimaryKeySchema(name: "_id", type: .int, isNullable: false)
                        ),
                        properties: [Self.name]
                    )
                ]), "primary key _id: int", "asymmetric"
            ),
        ]
        for (source, here, there) in others {
            guard case .schemaConflict(let conflicts)? = failure(of: task(), against: source) else {
                Issue.record("\(there) is not a conflict")
                continue
            }
            let text = ResetFailure.schemaConflict(conflicts).description
            #expect(text.contains("\(here) here"), "\(text)")
            #expect(text.contains("\(there) on the server") || text.contains(there), "\(text)")
        }
        let links = ["A", "B"].map { target in
            task([PropertySchema(name: "to", type: .link(target: Text(target)), isNullable: true)])
        }
        guard case .schemaConflict? = failure(of: links[0], against: links[1]) else {
            Issue.record("another target is not a conflict")
            return
        }
    }

    @Test("Additions on the server do not block a reset")
    func additions() throws {
        let more = task([
            Self.name, PropertySchema(name: "done", type: .bool, isNullable: false),
        ])
        #expect(try StateTransfer.checkSchema(of: task(), against: more))
        #expect(try !StateTransfer.checkSchema(of: more, against: more))
        #expect(try StateTransfer.checkSchema(of: RealmSchema(), against: more))
    }
}
