import Changesets
import Merge

/// Two histories to merge, of any length.
struct Workload: Sendable {
    let name: String
    /// Instructions on each side.
    let count: Int
    /// The n-th instruction of a side, ours being side 0 and theirs side 1.
    private let instruction: @Sendable (_ side: Int, _ number: Int, _ count: Int) -> Instruction

    /// Each side updates objects that the other does not know.
    static let distinctObjects = Workload(
        name: "distinct objects",
        count: 100_000,
        instruction: { side, number, count in update(object: side * count + number) }
    )

    /// Both sides update the same field of each object.
    static let sameObjects = Workload(
        name: "same objects",
        count: 10_000,
        instruction: { _, number, _ in update(object: number) }
    )

    /// Both sides append to one list.
    static let oneList = Workload(
        name: "one list",
        count: 2_000,
        instruction: { _, number, _ in
            let index = UInt32(number)
            let list = target(object: 1, path: [.index(index)])
            return .arrayInsert(list, .int(Int64(number)), priorSize: index)
        }
    )

    /// The history of both sides, in transactions of a hundred instructions.
    func operands(_ count: Int) -> (ours: [MergeOperand], theirs: [MergeOperand]) {
        (operands(side: 0, count), operands(side: 1, count))
    }

    private func operands(side: Int, _ count: Int) -> [MergeOperand] {
        stride(from: 0, to: count, by: 100).map { start in
            MergeOperand(
                changeset: Changeset(
                    strings: Self.strings,
                    instructions: (start..<min(count, start + 100)).map {
                        instruction(side, $0, count)
                    }
                ),
                stamp: Stamp(timestamp: UInt64(start), fileIdent: UInt64(2 + side))
            )
        }
    }
}

extension Workload {
    private static let strings: StringTable = {
        var strings = StringTable()
        _ = strings.intern("Item")
        _ = strings.intern("value")
        return strings
    }()

    private static func target(object: Int, path: [PathElement] = []) -> Instruction.PathTarget {
        .init(
            object: .init(className: InternIndex(0), key: .int(Int64(object))),
            field: InternIndex(1),
            path: path
        )
    }

    private static func update(object: Int) -> Instruction {
        .update(
            .init(target: target(object: object), payload: .int(7), detail: .isDefault(false))
        )
    }
}
