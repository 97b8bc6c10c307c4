internal import Changesets
internal import ClientReset
internal import Documents
internal import SQLite
internal import Versions

/// What the server has not acknowledged (client reset, 6.1).
struct UnsyncedChanges {
    struct Entry {
        let version: ClientVersion
        /// As transformed over everything the server has sent since; empty if nothing of it is left.
        let bytes: [UInt8]
    }

    let entries: [Entry]

    init(_ connection: Connection, _ state: RealmState) throws {
        let statement = try connection.statement(
            """
            SELECT version, coalesce(reciprocal, changeset) FROM _realm_history
            WHERE version > ?1 AND origin_file_ident = 0 AND size > 0 ORDER BY version
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

/// The objects that changesets are about, in the order of their first change, and which of their
/// properties.
struct ChangedObjects {
    private(set) var objects: [ObjectReference] = []
    private(set) var properties: [ObjectReference: Set<Text>] = [:]
    private var erased: Set<ObjectReference> = []
    /// Deleted and then made anew: none of their old values is left, wherever those still are.
    private(set) var recreated: Set<ObjectReference> = []

    mutating func add(_ changeset: Changeset) {
        for instruction in changeset.instructions {
            switch instruction {
            case .addTable, .eraseTable, .addColumn, .eraseColumn:
                break
            case .createObject(let target):
                let object = changeset.reference(target)
                if erased.contains(object) { recreated.insert(object) }
                add(object, nil)
            case .eraseObject(let target):
                erased.insert(changeset.reference(target))
                add(changeset.reference(target), nil)
            case .update(let update):
                add(changeset, update.target)
            case .setErase(let erase):
                add(changeset, erase.target)
            case .addInteger(let target, _), .arrayInsert(let target, _, _),
                .arrayMove(let target, _, _), .arrayErase(let target, _), .clear(let target, _),
                .setInsert(let target, _):
                add(changeset, target)
            }
        }
    }

    private mutating func add(_ changeset: Changeset, _ target: Instruction.PathTarget) {
        add(changeset.reference(target.object), changeset.text(target.field))
    }

    private mutating func add(_ object: ObjectReference, _ property: Text?) {
        if properties[object] == nil {
            objects.append(object)
            properties[object] = []
        }
        if let property { properties[object]?.insert(property) }
    }
}
