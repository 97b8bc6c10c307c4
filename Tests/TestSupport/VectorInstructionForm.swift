package import Changesets
package import Documents

/// Writes changesets as the golden vectors describe them ("Instructions in JSON").
package enum VectorInstructionForm {
    /// Equal to a line's `strings`.
    package static func strings(of changeset: Changeset) -> JSONNode {
        .array(changeset.strings.texts.map(VectorForm.text))
    }

    /// Equal to a line's `instructions`, once that is `withoutComments`.
    package static func instructions(of changeset: Changeset) -> JSONNode {
        .array(changeset.instructions.map { .object(members(of: $0, in: changeset)) })
    }

    private typealias Members = [Text: JSONNode]

    private static func members(of instruction: Instruction, in changeset: Changeset) -> Members {
        var members: Members
        switch instruction {
        case .addTable(let table):
            members = addTable(table, changeset)
        case .eraseTable(let className):
            members = ["op": "EraseTable", "table": text(className, changeset)]
        case .createObject(let target):
            members = object(target, changeset)
            members["op"] = "CreateObject"
        case .eraseObject(let target):
            members = object(target, changeset)
            members["op"] = "EraseObject"
        case .update(let update):
            members = path(update.target, changeset)
            members["op"] = "Update"
            members["value"] = payload(update.payload, changeset)
            switch update.detail {
            case .isDefault(let isDefault): members["is_default"] = .bool(isDefault)
            case .priorSize(let size): members["prior_size"] = number(size)
            }
        case .addInteger(let target, let amount):
            members = path(target, changeset)
            members["op"] = "AddInteger"
            members["value"] = .string(Text("\(amount)"))
        case .addColumn(let column):
            members = addColumn(column, changeset)
        case .eraseColumn(let className, let field):
            members = [
                "op": "EraseColumn", "table": text(className, changeset),
                "field": text(field, changeset),
            ]
        case .arrayInsert(let target, let value, let priorSize):
            members = path(target, changeset)
            members["op"] = "ArrayInsert"
            members["value"] = payload(value, changeset)
            members["prior_size"] = number(priorSize)
        case .arrayMove(let target, let to, let priorSize):
            members = path(target, changeset)
            members["op"] = "ArrayMove"
            members["to"] = number(to)
            members["prior_size"] = number(priorSize)
        case .arrayErase(let target, let priorSize):
            members = path(target, changeset)
            members["op"] = "ArrayErase"
            members["prior_size"] = number(priorSize)
        case .clear(let target, let type):
            members = path(target, changeset)
            members["op"] = "Clear"
            members["collection"] = name(of: type)
        case .setInsert(let target, let value):
            members = path(target, changeset)
            members["op"] = "SetInsert"
            members["value"] = payload(value, changeset)
        case .setErase(let erase):
            members = path(erase.target, changeset)
            members["op"] = "SetErase"
            members["value"] = payload(erase.payload, changeset)
        }
        return members
    }
}

// MARK: Parts of instructions

extension VectorInstructionForm {
    private static func addTable(
        _ table: Instruction.AddTable,
        _ changeset: Changeset
    ) -> Members {
        var members: Members = ["op": "AddTable", "table": text(table.className, changeset)]
        let key: Instruction.AddTable.PrimaryKeyColumn
        switch table.kind {
        case .embedded:
            members["kind"] = "embedded"
            return members
        case .topLevel(let column):
            members["kind"] = "toplevel"
            key = column
        case .asymmetric(let column):
            members["kind"] = "asymmetric"
            key = column
        }
        members["pk_field"] = text(key.field, changeset)
        members["pk_type"] = name(of: key.type.typeCode)
        members["pk_nullable"] = .bool(key.isNullable)
        return members
    }

    private static func addColumn(
        _ column: Instruction.AddColumn,
        _ changeset: Changeset
    ) -> Members {
        var members: Members = [
            "op": "AddColumn",
            "table": text(column.className, changeset),
            "field": text(column.field, changeset),
            "type": name(of: column.type),
            "nullable": .bool(column.isNullable),
            "collection": name(of: column.collection),
        ]
        members["link_target"] = column.linkTarget.map { text($0, changeset) }
        members["key_type"] = column.keyType.map(name(of:))
        return members
    }

    private static func object(
        _ target: Instruction.ObjectTarget,
        _ changeset: Changeset
    ) -> Members {
        [
            "table": text(target.className, changeset),
            "object": VectorForm.key(changeset.objectKey(target.key)),
        ]
    }

    private static func path(_ target: Instruction.PathTarget, _ changeset: Changeset) -> Members {
        var members = object(target.object, changeset)
        members["field"] = text(target.field, changeset)
        members["path"] = .array(
            target.path.map { element in
                switch element {
                case .index(let index): number(index)
                case .string(let string): text(string, changeset)
                }
            }
        )
        return members
    }

    private static func payload(_ payload: Payload, _ changeset: Changeset) -> JSONNode {
        if let scalar = changeset.scalar(payload) { return VectorForm.scalar(scalar) }
        return VectorForm.tagged("marker", name(of: payload.typeCode))
    }

    private static func text(_ index: InternIndex, _ changeset: Changeset) -> JSONNode {
        VectorForm.text(changeset.text(index))
    }

    private static func number(_ value: UInt32) -> JSONNode {
        .number("\(value)")
    }

    package static func name(of code: TypeCode) -> JSONNode {
        switch code {
        case .null: "mixed"
        case .objectID: "objectId"
        case .objectValue: "object"
        case .int, .bool, .string, .binary, .timestamp, .float, .double, .decimal, .link, .uuid,
            .globalKey, .set, .list, .erased, .dictionary:
            .string(Text("\(code)"))
        }
    }

    package static func name(of type: CollectionType) -> JSONNode {
        .string(Text("\(type)"))
    }
}

extension JSONNode: ExpressibleByStringLiteral {
    package init(stringLiteral value: String) {
        self = .string(Text(value))
    }
}
