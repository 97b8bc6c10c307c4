import Changesets
import Logging
import SyncProtocol
import Versions

/// Changesets in the log: a line for each class, with the numbers of what happens to its objects.
///
/// Keys and values are in the field `content`, which only a log with `log.values` shows.
extension Logger {
    func uploading(_ changesets: [UploadChangeset]) {
        guard logLevel <= .trace else { return }
        for changeset in changesets {
            trace(
                "changeset uploaded",
                changeset.bytes,
                ["client_version": "\(changeset.cursor.clientVersion.rawValue)"]
            )
        }
    }

    func downloaded(_ changesets: [DownloadChangeset]) {
        guard logLevel <= .trace else { return }
        for changeset in changesets {
            trace(
                "changeset downloaded",
                changeset.bytes,
                [
                    "server_version": "\(changeset.cursor.serverVersion.rawValue)",
                    "origin_ident": "\(changeset.originFileIdent.rawValue)",
                ]
            )
        }
    }

    private func trace(
        _ message: Logger.Message,
        _ bytes: [UInt8],
        _ fields: Logger.Metadata
    ) {
        var fields = fields
        fields["bytes"] = "\(bytes.count)"
        do throws(DecodeError) {
            let changeset = try Changeset(decoding: bytes)
            for summary in ChangesetSummary.summaries(of: changeset) {
                trace(message, metadata: fields.merging(summary.logFields) { $1 })
            }
            // An empty changeset only moves a cursor.
            if changeset.instructions.isEmpty { trace(message, metadata: fields) }
        } catch {
            fields["detail"] = "\(error)"
            trace(message, metadata: fields)
        }
    }
}

/// The effect of a changeset on one class.
struct ChangesetSummary: Equatable {
    let className: String
    var created = 0
    var erased = 0
    /// Instructions inside objects: properties, elements of collections.
    var updated = 0
    /// Classes and properties added or erased.
    var schemaChanges = 0
    /// The first instructions with keys and values, shortened.
    var content = ""

    private static let contentLimit = 1_024

    /// One for each class, in the order in which the changeset first names them.
    static func summaries(of changeset: Changeset) -> [ChangesetSummary] {
        var positions: [String: Int] = [:]
        var summaries: [ChangesetSummary] = []
        for instruction in changeset.instructions {
            let name = changeset.text(instruction.className).description
            if positions[name] == nil {
                positions[name] = summaries.count
                summaries.append(ChangesetSummary(className: name))
            }
            guard let position = positions[name] else { continue }
            summaries[position].add(instruction, of: changeset)
        }
        return summaries
    }

    private mutating func add(_ instruction: Instruction, of changeset: Changeset) {
        switch instruction {
        case .createObject: created += 1
        case .eraseObject: erased += 1
        case .addTable, .eraseTable, .addColumn, .eraseColumn: schemaChanges += 1
        case .update, .addInteger, .arrayInsert, .arrayMove, .arrayErase, .clear, .setInsert,
            .setErase:
            updated += 1
        }
        guard content.utf8.count < Self.contentLimit, let object = instruction.objectTarget else {
            return
        }
        var text = "\(instruction.code) \(changeset.objectKey(object.key).forPeople)"
        if let target = instruction.pathTarget { text += ".\(changeset.text(target.field))" }
        if let value = instruction.payload.flatMap(changeset.scalar) { text += " = \(value)" }
        content += (content.isEmpty ? "" : "; ") + text.prefix(200)
    }

    fileprivate var logFields: Logger.Metadata {
        var fields: Logger.Metadata = [
            "class": "\(className)", "created": "\(created)", "erased": "\(erased)",
            "updated": "\(updated)",
        ]
        if schemaChanges > 0 { fields["schema_changes"] = "\(schemaChanges)" }
        if !content.isEmpty { fields["content"] = "\(content)" }
        return fields
    }
}

extension Instruction {
    fileprivate var className: InternIndex {
        switch self {
        case .addTable(let table): table.className
        case .eraseTable(let className), .eraseColumn(let className, _): className
        case .addColumn(let column): column.className
        case .createObject(let object), .eraseObject(let object): object.className
        case .update(let update): update.target.object.className
        case .addInteger(let target, _), .arrayInsert(let target, _, _),
            .arrayMove(let target, _, _), .arrayErase(let target, _), .clear(let target, _),
            .setInsert(let target, _):
            target.object.className
        case .setErase(let erase): erase.target.object.className
        }
    }

    /// The value that the instruction writes or removes; nil if it has none.
    fileprivate var payload: Payload? {
        switch self {
        case .update(let update): update.payload
        case .arrayInsert(_, let payload, _), .setInsert(_, let payload): payload
        case .setErase(let erase): erase.payload
        case .addInteger(_, let amount): .int(amount)
        case .addTable, .eraseTable, .createObject, .eraseObject, .addColumn, .eraseColumn,
            .arrayMove, .arrayErase, .clear:
            nil
        }
    }
}
