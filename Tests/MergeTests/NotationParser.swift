import Changesets

/// Reads single instructions of `Notation`; an error in a test's text stops the test.
struct NotationParser {
    private(set) var strings = StringTable()

    mutating func instruction(_ words: [Substring]) -> Instruction {
        switch (words[0], words[1]) {
        case ("AddTable", let name):
            return .addTable(
                .init(
                    className: intern(name),
                    kind: words.contains("Embedded")
                        ? .embedded
                        : .topLevel(.init(field: intern("_id"), type: .int, isNullable: false))
                )
            )
        case ("EraseTable", let name):
            return .eraseTable(className: intern(name))
        case ("AddColumn", let column):
            let (className, field) = halves(column, ".")
            let linkTarget = words[2].hasPrefix("->") ? intern(words[2].dropFirst(2)) : nil
            return .addColumn(
                .init(
                    className: intern(className),
                    field: intern(field),
                    type: linkTarget == nil ? columnType(words[2]) : .link,
                    isNullable: linkTarget != nil,
                    collection: .single,
                    linkTarget: linkTarget
                )
            )
        case ("EraseColumn", let column):
            let (className, field) = halves(column, ".")
            return .eraseColumn(className: intern(className), field: intern(field))
        case ("CreateObject", let object):
            return .createObject(objectTarget(object))
        case ("EraseObject", let object):
            return .eraseObject(objectTarget(object))
        case ("Update", let body):
            let (place, value) = halves(body, "=")
            let target = pathTarget(place)
            return .update(
                .init(
                    target: target,
                    payload: payload(value),
                    detail: target.index == nil
                        ? .isDefault(words.last == "default") : .priorSize(number(words[3]))
                )
            )
        case ("AddInteger", let body):
            let (place, amount) = halves(body, "+=")
            return .addInteger(pathTarget(place), amount: number(amount))
        case ("ArrayInsert", let body):
            let (place, value) = halves(body, "=")
            let target = pathTarget(place)
            return .arrayInsert(target, payload(value), priorSize: number(words[3]))
        case ("ArrayMove", let body):
            let (place, destination) = halves(body, "->")
            return .arrayMove(
                pathTarget(place),
                to: number(destination),
                priorSize: number(words[3])
            )
        case ("ArrayErase", let place):
            return .arrayErase(pathTarget(place), priorSize: number(words[3]))
        case ("Clear", let place):
            return .clear(pathTarget(place), collection(words[2]))
        case ("SetInsert", let place):
            let target = pathTarget(place)
            return .setInsert(target, payload(words[2]))
        case ("SetErase", let place):
            let target = pathTarget(place)
            return .setErase(.init(target: target, payload: payload(words[2])))
        default:
            preconditionFailure("unknown instruction \(words)")
        }
    }
}

extension NotationParser {
    private mutating func intern(_ text: some StringProtocol) -> InternIndex {
        strings.intern(Text(text))
    }

    private func halves(_ text: Substring, _ separator: String) -> (Substring, Substring) {
        guard let range = text.firstRange(of: separator) else {
            preconditionFailure("\(separator) is missing in \(text)")
        }
        return (text[..<range.lowerBound], text[range.upperBound...])
    }

    private func number<Number: FixedWidthInteger>(_ text: Substring) -> Number {
        guard let number = Number(text) else { preconditionFailure("\(text) is not a number") }
        return number
    }

    private mutating func objectTarget(_ text: Substring) -> Instruction.ObjectTarget {
        guard text.contains(":") else {
            return .init(className: intern("C"), key: primaryKey(text))
        }
        let (className, key) = halves(text, ":")
        return .init(className: intern(className), key: primaryKey(key))
    }

    private mutating func primaryKey(_ text: Substring) -> PrimaryKey {
        Int64(text).map(PrimaryKey.int) ?? .string(intern(text))
    }

    private mutating func pathTarget(_ text: Substring) -> Instruction.PathTarget {
        var object: Substring = "1"
        var place = text
        if text.contains(":") || text.first?.isNumber == true {
            (object, place) = halves(text, ".")
        }
        let target = objectTarget(object)
        var steps = place.replacing("[", with: ".[").split(separator: ".")
        let field = intern(steps.removeFirst())
        return .init(
            object: target,
            field: field,
            path: steps.map { step in
                step.hasPrefix("[")
                    ? .index(number(step.dropFirst().dropLast())) : .string(intern(step))
            }
        )
    }

    private mutating func payload(_ text: Substring) -> Payload {
        switch text {
        case "Null": return .null
        case "ObjectValue": return .objectValue
        case "Dictionary": return .dictionary
        case "List": return .list
        case "Set": return .set
        case "Erased": return .erased
        case "NaN": return .double(DoubleBits(.nan))
        case _ where text.hasPrefix("Link:"):
            let target = objectTarget(text.dropFirst(5))
            return .link(className: target.className, key: target.key)
        case _ where text.hasPrefix("Decimal:"):
            let (coefficient, exponent) = halves(text.dropFirst(8), "E")
            guard
                let decimal = Decimal128(
                    coefficientHigh: 0,
                    coefficientLow: number(coefficient),
                    exponent: number(exponent),
                    isNegative: false
                )
            else { preconditionFailure("\(text) is not a decimal") }
            return .decimal(decimal)
        case _ where text.hasPrefix("\""):
            return .string(Text(text.dropFirst().dropLast()))
        case _ where text.contains("."):
            guard let value = Double(text) else { preconditionFailure("\(text) is not a number") }
            return .double(DoubleBits(value))
        default:
            return .int(number(text))
        }
    }

    private func columnType(_ text: Substring) -> TypeCode {
        switch text {
        case "Int": .int
        case "String": .string
        default: preconditionFailure("unknown column type \(text)")
        }
    }

    private func collection(_ text: Substring) -> CollectionType {
        switch text {
        case "List": .list
        case "Dictionary": .dictionary
        case "Set": .set
        default: preconditionFailure("unknown collection type \(text)")
        }
    }
}
