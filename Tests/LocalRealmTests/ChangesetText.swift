import Changesets
import LocalRealm
import SQLite
import Versions

/// Instructions as text, short enough to compare in a test: `Task 5: title = "Paint"`.
enum ChangesetText {
    static func lines(_ changeset: Changeset) -> [String] {
        changeset.instructions.map { line($0, changeset) }
    }

    private static func line(_ instruction: Instruction, _ changeset: Changeset) -> String {
        switch instruction {
        case .addTable(let table):
            return "AddTable \(changeset.text(table.className)) \(kind(table.kind, changeset))"
        case .eraseTable(let name):
            return "EraseTable \(changeset.text(name))"
        case .addColumn(let column):
            let target = column.linkTarget.map { " \(changeset.text($0))" } ?? ""
            return """
                AddColumn \(changeset.text(column.className)).\(changeset.text(column.field)) \
                \(column.type)\(column.isNullable ? "?" : "")\(target)
                """
        case .eraseColumn(let name, let field):
            return "EraseColumn \(changeset.text(name)).\(changeset.text(field))"
        case .createObject(let target):
            return "CreateObject \(object(target, changeset))"
        case .eraseObject(let target):
            return "EraseObject \(object(target, changeset))"
        case .update(let update):
            var detail = update.detail == .isDefault(true) ? " (default)" : ""
            if case .priorSize(let size) = update.detail { detail = " p\(size)" }
            return
                "\(place(update.target, changeset)) = \(text(update.payload, changeset))\(detail)"
        case .addInteger(let target, let amount):
            return "\(place(target, changeset)) += \(amount)"
        case .arrayInsert(let target, let payload, let size):
            return "\(place(target, changeset)) insert \(text(payload, changeset)) p\(size)"
        case .arrayErase(let target, let size):
            return "\(place(target, changeset)) erase p\(size)"
        case .arrayMove(let target, let to, let size):
            return "\(place(target, changeset)) move to \(to) p\(size)"
        case .clear(let target, let collection):
            return "\(place(target, changeset)) clear \(collection)"
        case .setInsert(let target, let payload):
            return "\(place(target, changeset)) add \(text(payload, changeset))"
        case .setErase(let erase):
            return "\(place(erase.target, changeset)) remove \(text(erase.payload, changeset))"
        }
    }

    private static func text(_ payload: Payload, _ changeset: Changeset) -> String {
        changeset.scalar(payload).map(text) ?? "\(payload)"
    }

    private static func kind(
        _ kind: Instruction.AddTable.Kind,
        _ changeset: Changeset
    ) -> String {
        switch kind {
        case .topLevel(let key):
            "\(changeset.text(key.field)) \(key.type)\(key.isNullable ? "?" : "")"
        case .embedded: "embedded"
        case .asymmetric: "asymmetric"
        }
    }

    private static func object(
        _ target: Instruction.ObjectTarget,
        _ changeset: Changeset
    ) -> String {
        "\(changeset.text(target.className)) \(text(changeset.objectKey(target.key)))"
    }

    private static func place(_ target: Instruction.PathTarget, _ changeset: Changeset) -> String {
        let path = target.path.map { element in
            switch element {
            case .index(let index): "[\(index)]"
            case .string(let index): ".\(changeset.text(index))"
            }
        }
        return
            "\(object(target.object, changeset)): \(changeset.text(target.field))\(path.joined())"
    }

    static func text(_ key: ObjectKey) -> String {
        switch key {
        case .null: "null"
        case .int(let value): "\(value)"
        case .string(let value): "\"\(value)\""
        case .objectID(let value): "\(value)"
        case .uuid(let value): "\(value)"
        case .globalKey(let value): "\(value.high):\(value.low)"
        }
    }

    static func text(_ scalar: Scalar) -> String {
        switch scalar {
        case .null: "null"
        case .int(let value): "\(value)"
        case .bool(let value): "\(value)"
        case .string(let value): "\"\(value)\""
        case .binary(let value): "x\(Hexadecimal.text(of: value))"
        case .timestamp(let value): "\(value.seconds)s \(value.nanoseconds)ns"
        case .float(let value): "\(value.value)"
        case .double(let value): "\(value.value)"
        case .decimal(let value): "\(value.high),\(value.low)"
        case .link(let link): "\(link.className)(\(text(link.key)))"
        case .objectID(let value): "\(value)"
        case .uuid(let value): "\(value)"
        }
    }
}

/// A row of the history, for comparison in tests.
struct HistoryEntry {
    let version: Int64
    let timestamp: Int64
    let changeset: Changeset

    var lines: [String] { ChangesetText.lines(changeset) }
}

extension RealmFixture {
    /// The local changesets that are still in the history.
    func history(after version: Int64 = 0) throws -> [HistoryEntry] {
        let connection = try connect()
        let statement = try connection.prepare(
            """
            SELECT version, origin_timestamp, changeset FROM _realm_history
            WHERE version > ?1 AND size > 0 ORDER BY version
            """
        )
        try statement.bind(version, at: 1)
        var entries: [HistoryEntry] = []
        while try statement.step() {
            entries.append(
                HistoryEntry(
                    version: statement.integer(at: 0),
                    timestamp: statement.integer(at: 1),
                    changeset: try Changeset(decoding: statement.bytes(at: 2))
                )
            )
        }
        return entries
    }

    /// Drains, and returns the resulting instructions.
    func drained() throws -> [String] {
        let before = Int64(realm.status.localVersion.rawValue)
        _ = try realm.drain()
        return try history(after: before).flatMap(\.lines)
    }

    /// The content of the capture log: key, prop by name, old.
    func captured() throws -> [String] {
        try connect().rows(
            """
            SELECT coalesce(c.key, 'null') || ',' || CASE c.prop WHEN 0 THEN 'insert'
              WHEN -1 THEN 'delete' WHEN -2 THEN 'exists' ELSE p.name || ',' ||
              coalesce(c.old, 'null') END
            FROM _realm_capture c LEFT JOIN _realm_property p ON p.id = c.prop ORDER BY c.seq
            """
        ).compactMap { row in
            if case .text(let text) = row[0] { text } else { nil }
        }
    }
}
