internal import Changesets
internal import ClientReset
internal import Documents
internal import SQLite
internal import Schemas
internal import Versions

/// The changes that the server has not acknowledged (client reset, 6.1).
struct UnsyncedChanges {
    struct Entry {
        let version: ClientVersion
        /// As transformed over everything the server has sent since; empty if nothing of it is
        /// left.
        let bytes: [UInt8]
    }

    let entries: [Entry]

    init(_ connection: Connection, _ state: RealmStateRow) throws {
        let statement = try connection.statement(
            """
            SELECT version, coalesce(reciprocal, changeset) FROM _realm_history
            WHERE version > ?1 AND origin_file_ident = 0 AND length(changeset) > 0 ORDER BY version
            """
        )
        defer { statement.reset() }
        try statement.bind(Int64(clamping: state.progress.upload.clientVersion.rawValue), at: 1)
        var entries: [Entry] = []
        while try statement.step() {
            let version = ClientVersion(UInt64(clamping: statement.integer(at: 0)))
            entries.append(Entry(version: version, bytes: statement.bytes(at: 1)))
        }
        self.entries = entries
    }

    func changesets() throws -> [(version: ClientVersion, changeset: Changeset)] {
        try entries.map { entry in
            do throws(DecodeError) {
                return (entry.version, try Changeset(decoding: entry.bytes))
            } catch {
                throw ResetFailure.unreadableChange(error)
            }
        }
    }
}

/// The objects in changesets, in the order of their first change, and the changes of their
/// properties.
struct ChangedObjects {
    private(set) var objects: [ObjectReference] = []
    private var properties: [ObjectReference: [Text: UnsyncedPropertyChange]] = [:]
    private var erased: Set<ObjectReference> = []
    private var created: Set<ObjectReference> = []
    /// Deleted and then recreated: none of their old values applies.
    private var recreated: Set<ObjectReference> = []
    private let schema: RealmSchema

    init(schema: RealmSchema) {
        self.schema = schema
    }

    func changes(of object: ObjectReference) -> UnsyncedObject.Changes {
        UnsyncedObject.Changes(
            isCreated: created.contains(object),
            properties: recreated.contains(object) ? nil : properties[object] ?? [:]
        )
    }

    mutating func add(_ changeset: Changeset) {
        for instruction in changeset.instructions {
            switch instruction {
            case .addTable, .eraseTable, .addColumn, .eraseColumn:
                break
            case .createObject(let target):
                let object = changeset.reference(target)
                if erased.contains(object) { recreated.insert(object) }
                created.insert(object)
                add(object)
            case .eraseObject(let target):
                erased.insert(changeset.reference(target))
                created.remove(changeset.reference(target))
                add(changeset.reference(target))
            case .update, .addInteger, .arrayInsert, .arrayMove, .arrayErase, .clear, .setInsert,
                .setErase:
                if let target = instruction.pathTarget {
                    add(instruction, of: changeset, at: target)
                }
            }
        }
    }

    private mutating func add(_ object: ObjectReference) {
        guard properties[object] == nil else { return }
        objects.append(object)
        properties[object] = [:]
    }

    private mutating func add(
        _ instruction: Instruction,
        of changeset: Changeset,
        at target: Instruction.PathTarget
    ) {
        let object = changeset.reference(target.object)
        let name = changeset.text(target.field)
        add(object)
        let before = properties[object]?[name]
        // The values of an object that was created here do not depend on any others.
        properties[object]?[name] =
            created.contains(object)
            ? .set
            : UnsyncedPropertyChange(
                before,
                instruction,
                at: target,
                of: changeset,
                schema[object.className]?.property(named: name)
            )
    }
}
