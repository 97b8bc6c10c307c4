import Changesets
import TestSupport

@testable import Merge

/// Makes changesets that are likely to conflict: few objects and fields, all kinds of instructions.
///
/// Histories need not be possible ones. List sizes are tracked, so that most merges succeed; the
/// rest are refused at some instruction, which must be the same one.
struct RandomOperands {
    private var random: SplitMix64
    private let style: Style
    private var strings = StringTable()
    /// Sizes of lists, by a text for their place; a list has four elements at first.
    private var sizes: [String: UInt32] = [:]

    enum Style: CaseIterable {
        /// Each field has one use: a number, a list, a dictionary, a Mixed value, a set.
        case typed
        /// The same, with added classes and columns.
        case additive
        /// The same, with erased classes and columns too.
        case destructive
        /// Any instruction on any path.
        case wild
    }

    init(seed: UInt64, style: Style) {
        self.random = SplitMix64(seed: seed)
        self.style = style
    }

    mutating func operands(fileIdent: UInt64) -> [MergeOperand] {
        var timestamp = UInt64.random(in: 0..<4, using: &random)
        sizes = [:]
        return (0..<Int.random(in: 1...3, using: &random)).map { _ in
            timestamp += UInt64.random(in: 0..<3, using: &random)
            strings = StringTable()
            // Equal strings get different indexes on the two sides.
            for name in ["x", "C", "y", "D"].shuffled(using: &random) { _ = intern(name) }
            let instructions = (0..<Int.random(in: 0...8, using: &random)).map { _ in instruction()
            }
            return MergeOperand(
                changeset: Changeset(strings: strings, instructions: instructions),
                stamp: Stamp(timestamp: timestamp, fileIdent: fileIdent)
            )
        }
    }
}

extension RandomOperands {
    /// A changeset about an object that only this client has, or one without instructions.
    mutating func distantOperand(fileIdent: UInt64) -> MergeOperand {
        strings = StringTable()
        let className = intern("C")
        let object = Instruction.ObjectTarget(
            className: className,
            key: .int(Int64(1_000 * fileIdent))
        )
        let target = Instruction.PathTarget(object: object, field: intern("x"))
        let instructions: [Instruction] = [
            .createObject(object),
            .update(.init(target: target, payload: .int(1), detail: .isDefault(false))),
        ]
        let count = below(3)
        return MergeOperand(
            changeset: Changeset(strings: strings, instructions: Array(instructions.prefix(count))),
            stamp: Stamp(timestamp: UInt64(below(4)), fileIdent: fileIdent)
        )
    }
}

// MARK: Instructions

extension RandomOperands {
    private mutating func instruction() -> Instruction {
        if style == .wild { return wildInstruction() }
        if style != .typed, chance(5) { return schemaInstruction() }
        if chance(6) { return chance(2) ? .createObject(object()) : .eraseObject(object()) }
        switch pick(["x", "y", "l", "el", "d", "m", "s"]) {
        case "l": return listInstruction(target("l"))
        case "el": return embeddedListInstruction()
        case "d": return update(target("d", .string(intern(pick(["a", "b"])))))
        case "m": return mixedInstruction()
        case "s": return setInstruction(target("s"))
        case let field: return numberInstruction(target(field))
        }
    }

    private mutating func schemaInstruction() -> Instruction {
        let className = intern(pick(["C", "D", "E"]))
        let field = intern(pick(["x", "k"]))
        switch below(style == .destructive ? 6 : 4) {
        case 0:
            let key = Instruction.AddTable.PrimaryKeyColumn(
                field: intern("_id"),
                type: .int,
                isNullable: chance(20)
            )
            return .addTable(.init(className: className, kind: .topLevel(key)))
        case 1, 2:
            return .addColumn(
                .init(
                    className: className,
                    field: field,
                    type: .int,
                    isNullable: chance(20),
                    collection: .single
                )
            )
        case 3:
            return .addColumn(
                .init(
                    className: className,
                    field: intern("k"),
                    type: .link,
                    isNullable: true,
                    collection: .single,
                    linkTarget: intern(pick(["C", "D"]))
                )
            )
        case 4:
            return .eraseTable(className: className)
        default:
            return .eraseColumn(className: className, field: field)
        }
    }

    private mutating func numberInstruction(_ target: Instruction.PathTarget) -> Instruction {
        if chance(3) {
            return .addInteger(target, amount: Int64.random(in: -1...2, using: &random))
        }
        return update(target)
    }

    private mutating func setInstruction(_ target: Instruction.PathTarget) -> Instruction {
        switch below(5) {
        case 0: .clear(target, .set)
        case 1, 2: .setInsert(target, scalar())
        default:
            .setErase(.init(target: target, payload: scalar(), bufferOffset: UInt64(below(2))))
        }
    }

    private mutating func listInstruction(_ container: Instruction.PathTarget) -> Instruction {
        let place = "\(container)"
        let size = sizes[place, default: 4]
        var target = container
        guard size > 1, !chance(12) else {
            sizes[place] = 0
            return .clear(container, .list)
        }
        let index = UInt32(below(Int(size)))
        target.path.append(.index(index))
        switch below(6) {
        case 0, 1:
            sizes[place] = size + 1
            return .arrayInsert(target, payload(), priorSize: size)
        case 2:
            sizes[place] = size - 1
            return .arrayErase(target, priorSize: size)
        case 3:
            return .arrayMove(target, to: (index + 1) % size, priorSize: size)
        default:
            return .update(
                .init(target: target, payload: payload(), detail: .priorSize(size))
            )
        }
    }

    private mutating func embeddedListInstruction() -> Instruction {
        let list = target("el")
        let size = sizes["\(list)", default: 4]
        guard size > 0, chance(2) else { return listInstruction(list) }
        var inner = list
        inner.path.append(.index(UInt32(below(Int(size)))))
        inner.path.append(.string(intern(pick(["x", "l"]))))
        return chance(2) ? numberInstruction(inner) : listInstruction(inner)
    }

    private mutating func mixedInstruction() -> Instruction {
        var target = target("m")
        while chance(2), target.path.count < 3 {
            target.path.append(.string(intern(pick(["a", "b"]))))
        }
        switch below(5) {
        case 0: return .clear(target, chance(2) ? .list : .dictionary)
        case 1: return listInstruction(target)
        case 2: return numberInstruction(target)
        default: return update(target)
        }
    }

    private mutating func update(_ target: Instruction.PathTarget) -> Instruction {
        .update(.init(target: target, payload: payload(), detail: .isDefault(chance(4))))
    }

    private mutating func wildInstruction() -> Instruction {
        var target = target(pick(["x", "y"]))
        while chance(2), target.path.count < 4 {
            target.path.append(
                chance(2) ? .index(UInt32(below(3))) : .string(intern(pick(["a", "b"])))
            )
        }
        switch below(12) {
        case 0: return schemaInstruction()
        case 1: return chance(2) ? .createObject(target.object) : .eraseObject(target.object)
        case 2, 3:
            return .clear(target, chance(2) ? .list : .dictionary)
        case 4: return setInstruction(target)
        case 5: return .addInteger(target, amount: 1)
        case 6, 7: return listInstruction(target)
        default:
            return target.index == nil
                ? update(target)
                : .update(.init(target: target, payload: payload(), detail: .priorSize(4)))
        }
    }
}

// MARK: Parts

extension RandomOperands {
    private mutating func object() -> Instruction.ObjectTarget {
        let className = intern(pick(["C", "C", "D"]))
        switch below(4) {
        case 0: return .init(className: className, key: .string(intern("1")))
        case 1: return .init(className: className, key: .int(2))
        default: return .init(className: className, key: .int(1))
        }
    }

    private mutating func target(_ field: String) -> Instruction.PathTarget {
        .init(object: object(), field: intern(field))
    }

    private mutating func target(
        _ field: String,
        _ element: PathElement
    ) -> Instruction.PathTarget {
        .init(object: object(), field: intern(field), path: [element])
    }

    private mutating func payload() -> Payload {
        switch below(10) {
        case 0: .null
        case 1: .objectValue
        case 2, 3: .dictionary
        case 4, 5: .list
        case 6: .erased
        default: scalar()
        }
    }

    private mutating func scalar() -> Payload {
        switch below(8) {
        case 0: .string(Text(pick(["a", "b", "cc"])))
        case 1: .double(DoubleBits(pick([0.0, -0.0, .nan])))
        case 2: .link(className: intern("D"), key: .int(Int64(below(2))))
        case 3: .binary([UInt8(below(2))])
        default: .int(Int64(below(3)))
        }
    }

    private mutating func intern(_ text: String) -> InternIndex {
        strings.intern(Text(text))
    }

    private mutating func below(_ limit: Int) -> Int {
        Int.random(in: 0..<limit, using: &random)
    }

    /// True once in so many times.
    private mutating func chance(_ times: Int) -> Bool {
        below(times) == 0
    }

    private mutating func pick<Choice>(_ choices: [Choice]) -> Choice {
        choices[below(choices.count)]
    }
}
