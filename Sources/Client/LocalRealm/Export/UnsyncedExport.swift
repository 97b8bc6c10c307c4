internal import Changesets
internal import Documents
internal import SQLite
internal import Schemas
internal import Versions

/// Local changes that the server has not acknowledged, as JSON lines.
///
/// It reads the file beside a running agent, and does not write to it. Recent writes that the agent
/// has not captured yet are missing.
package enum UnsyncedExport {
    /// The lines, the oldest change first: one for each instruction.
    package static func lines(path: String) throws(LocalRealmError) -> [[UInt8]] {
        try RealmFile.mappingErrors(path) {
            let connection = try Connection(path: path, .init(mode: .readWrite))
            defer { connection.close() }
            guard let layout = try RealmStateRow.layoutVersion(on: connection) else {
                throw LocalRealmError(.notARealm, path: path, "the file is not a local realm")
            }
            guard layout <= Layout.version else {
                throw LocalRealmError(.newerLayout, path: path, "the file has layout \(layout)")
            }
            return try connection.transaction(.deferred) { try lines(connection) }
        }
    }

    private static func lines(_ connection: Connection) throws -> [[UInt8]] {
        let statement = try connection.statement(unacknowledged)
        defer { statement.reset() }
        var lines: [[UInt8]] = []
        while try statement.step() {
            let changeset = try Changeset(decoding: statement.bytes(at: 2))
            let form = UnsyncedLine(
                changeset: changeset,
                version: statement.integer(at: 0),
                instant: statement.integer(at: 1).adding(
                    clamping: OriginTimestamp.epochOffsetInMilliseconds
                )
            )
            lines += changeset.instructions.map(form.line)
        }
        return lines
    }

    private static let unacknowledged = """
        SELECT version, origin_timestamp, changeset FROM _realm_history
        WHERE version > (SELECT upload_client_version FROM _realm_state WHERE id = 1)
          AND origin_file_ident = 0 AND length(changeset) > 0
        ORDER BY version
        """
}

/// One instruction of a changeset as a line; values carry their types (Extended JSON).
private struct UnsyncedLine {
    let changeset: Changeset
    let version: Int64
    /// Milliseconds since 1970.
    let instant: Int64

    func line(_ instruction: Instruction) -> [UInt8] {
        var members = [("version", Self.json(.int(version))), ("at", Self.json(time))]
        func tell(_ word: String, _ more: [(String, [UInt8])]) {
            members.append(("change", Self.json(.string(Text(word)))))
            members += more
        }
        switch instruction {
        case .addTable(let table): tell("add_class", name(table.className))
        case .eraseTable(let name): tell("erase_class", self.name(name))
        case .addColumn(let column):
            tell("add_property", name(column.className) + property(column.field))
        case .eraseColumn(let name, let field):
            tell("erase_property", self.name(name) + property(field))
        case .createObject(let target): tell("create", object(target))
        case .eraseObject(let target): tell("delete", object(target))
        case .update(let update):
            tell("set", place(update.target) + value(update.payload))
        case .addInteger(let target, let amount):
            tell("add", place(target) + [("amount", Self.json(.int(amount)))])
        case .arrayInsert(let target, let payload, _):
            tell("insert", place(target) + value(payload))
        case .arrayMove(let target, let index, _):
            tell("move", place(target) + [("to", Self.json(.int(Int64(index))))])
        case .arrayErase(let target, _): tell("remove", place(target))
        case .clear(let target, _): tell("clear", place(target))
        case .setInsert(let target, let payload):
            tell("set_insert", place(target) + value(payload))
        case .setErase(let erase):
            tell("set_remove", place(erase.target) + value(erase.payload))
        }
        let text = members.map { name, value in Array("\"\(name)\":".utf8) + value }
        return Array("{".utf8) + text.joined(separator: [UInt8(ascii: ",")]) + Array("}\n".utf8)
    }

    private var time: Scalar {
        let nanoseconds = (instant % 1000) * 1_000_000
        let time = Timestamp(seconds: instant / 1000, nanoseconds: nanoseconds)
        return .timestamp(time ?? .epoch)
    }

    private func name(_ className: InternIndex) -> [(String, [UInt8])] {
        [("class", Self.json(.string(changeset.text(className))))]
    }

    private func property(_ field: InternIndex) -> [(String, [UInt8])] {
        [("property", Self.json(.string(changeset.text(field))))]
    }

    private func object(_ target: Instruction.ObjectTarget) -> [(String, [UInt8])] {
        name(target.className) + [("key", Self.json(scalar(changeset.objectKey(target.key))))]
    }

    private func place(_ target: Instruction.PathTarget) -> [(String, [UInt8])] {
        let steps = target.path.map { step -> Documents.Value in
            switch step {
            case .index(let index): .scalar(.int(Int64(index)))
            case .string(let name): .scalar(.string(changeset.text(name)))
            }
        }
        let path = steps.isEmpty ? [] : [("path", Self.json(.list(steps)))]
        return object(target.object) + property(target.field) + path
    }

    /// A place that gets an object or a collection has no value of its own.
    private func value(_ payload: Payload) -> [(String, [UInt8])] {
        if let scalar = changeset.scalar(payload) { return [("value", Self.json(scalar))] }
        let word =
            switch payload {
            case .dictionary: "dictionary"
            case .list: "list"
            case .set: "set"
            case .erased: "nothing"
            default: "object"
            }
        return [("holds", Self.json(.string(Text(word))))]
    }

    private func scalar(_ key: ObjectKey) -> Scalar {
        switch key {
        case .null: .null
        case .int(let value): .int(value)
        case .string(let value): .string(value)
        case .objectID(let value): .objectID(value)
        case .uuid(let value): .uuid(value)
        case .globalKey(let value): .string(Text("\(value.high):\(value.low)"))
        }
    }

    private static func json(_ scalar: Scalar) -> [UInt8] {
        json(Documents.Value.scalar(scalar))
    }

    private static func json(_ value: Documents.Value) -> [UInt8] {
        JSONForm(schema: RealmSchema()).encode(value, of: anything)
    }

    private static let anything = PropertySchema(name: "value", type: .mixed, isNullable: true)
}
