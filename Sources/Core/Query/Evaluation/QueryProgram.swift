/// The tests of a condition in order, each with its successors: AND, OR and NOT become jumps.
///
/// Evaluation needs neither recursion nor memory, and stops as soon as the result is known.
struct QueryProgram: Sendable {
    struct Step: Sendable {
        /// Index of the condition.
        let test: Int
        let onTrue: Target
        let onFalse: Target
    }

    enum Target: Sendable {
        case match, mismatch
        case step(Int)
    }

    /// The last one runs first: jumps lead to lower indexes.
    private(set) var steps: [Step] = []

    private struct Work {
        let condition: Int
        /// Nil for the step that was written last.
        let onTrue: Target?
        let onFalse: Target?
    }

    init(_ query: CheckedQuery, root: Int) {
        var tasks = [Work(condition: root, onTrue: .match, onFalse: .mismatch)]
        while let task = tasks.popLast() {
            let onTrue = task.onTrue ?? .step(steps.count - 1)
            let onFalse = task.onFalse ?? .step(steps.count - 1)
            switch query.conditions[task.condition] {
            case .not(let part):
                tasks.append(Work(condition: part, onTrue: onFalse, onFalse: onTrue))
            case .all(let parts):
                // The last part is written first, so that the others can jump to it.
                for (number, part) in parts.enumerated() {
                    let isLast = number == parts.count - 1
                    tasks.append(
                        Work(condition: part, onTrue: isLast ? onTrue : nil, onFalse: onFalse)
                    )
                }
            case .any(let parts):
                for (number, part) in parts.enumerated() {
                    let isLast = number == parts.count - 1
                    tasks.append(
                        Work(condition: part, onTrue: onTrue, onFalse: isLast ? onFalse : nil)
                    )
                }
            case .truth, .comparison, .isOneOf, .between, .absorbed:
                steps.append(Step(test: task.condition, onTrue: onTrue, onFalse: onFalse))
            }
        }
    }

    func run(_ test: (Int) -> Bool) -> Bool {
        var index = steps.count - 1
        while true {
            let step = steps[index]
            switch test(step.test) ? step.onTrue : step.onFalse {
            case .match: return true
            case .mismatch: return false
            case .step(let next): index = next
            }
        }
    }
}
