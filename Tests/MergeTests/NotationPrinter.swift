import Changesets

/// Writes single instructions in `Notation`.
struct NotationPrinter {
    let changeset: Changeset

    func text(of instruction: Instruction) -> String {
        switch instruction {
        case .addTable(let table):
            let name = changeset.text(table.className)
            return table.kind == .embedded ? "AddTable \(name) Embedded" : "AddTable \(name)"
        case .eraseTable(let className):
            return "EraseTable \(changeset.text(className))"
        case .createObject(let target):
            return "CreateObject \(text(of: target))"
        case .eraseObject(let target):
            return "EraseObject \(text(of: target))"
        case .update(let update):
            let assignment = "\(text(of: update.target))=\(text(of: update.payload))"
            switch update.detail {
            case .isDefault(let isDefault):
                return "Update \(assignment)\(isDefault ? " default" : "")"
            case .priorSize(let size):
                return "Update \(assignment) prior \(size)"
            }
        case .addInteger(let target, let amount):
            return "AddInteger \(text(of: target))+=\(amount)"
        case .addColumn(let column):
            let type = column.linkTarget.map { "->\(changeset.text($0))" } ?? text(of: column.type)
            return "AddColumn \(text(of: column.className, column.field)) \(type)"
        case .eraseColumn(let className, let field):
            return "EraseColumn \(text(of: className, field))"
        case .arrayInsert(let target, let payload, let size):
            return "ArrayInsert \(text(of: target))=\(text(of: payload)) prior \(size)"
        case .arrayMove(let target, let destination, let size):
            return "ArrayMove \(text(of: target))->\(destination) prior \(size)"
        case .arrayErase(let target, let size):
            return "ArrayErase \(text(of: target)) prior \(size)"
        case .clear(let target, let collection):
            return "Clear \(text(of: target)) \(text(of: collection))"
        case .setInsert(let target, let payload):
            return "SetInsert \(text(of: target)) \(text(of: payload))"
        case .setErase(let erase):
            return "SetErase \(text(of: erase.target)) \(text(of: erase.payload))"
        }
    }
}

extension NotationPrinter {
    private func text(of target: Instruction.ObjectTarget) -> String {
        let key = keyText(target.key)
        let className = changeset.text(target.className)
        return className == "C" ? key : "\(className):\(key)"
    }

    private func text(of target: Instruction.PathTarget) -> String {
        let object = text(of: target.object)
        var text = object == "1" ? "" : object + "."
        text += "\(changeset.text(target.field))"
        for element in target.path {
            switch element {
            case .index(let index): text += "[\(index)]"
            case .string(let index): text += ".\(changeset.text(index))"
            }
        }
        return text
    }

    private func text(of className: InternIndex, _ field: InternIndex) -> String {
        "\(changeset.text(className)).\(changeset.text(field))"
    }

    private func keyText(_ key: PrimaryKey) -> String {
        switch key {
        case .int(let value): "\(value)"
        case .string(let index): "\(changeset.text(index))"
        default: "\(key)"
        }
    }

    private func text(of payload: Payload) -> String {
        switch payload {
        case .null: "Null"
        case .int(let value): "\(value)"
        case .string(let value): "\"\(value)\""
        case .double(let bits): bits.value.isNaN ? "NaN" : "\(bits.value)"
        case .decimal(let value): "Decimal:\(value.coefficientLow)E\(value.exponent)"
        case .link(let className, let key):
            "Link:\(text(of: .init(className: className, key: key)))"
        case .objectValue: "ObjectValue"
        case .dictionary: "Dictionary"
        case .list: "List"
        case .set: "Set"
        case .erased: "Erased"
        default: "\(payload)"
        }
    }

    private func text(of type: TypeCode) -> String {
        switch type {
        case .int: "Int"
        case .string: "String"
        default: "\(type)"
        }
    }

    private func text(of collection: CollectionType) -> String {
        switch collection {
        case .single: "Single"
        case .list: "List"
        case .dictionary: "Dictionary"
        case .set: "Set"
        }
    }
}
