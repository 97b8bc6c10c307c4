import Changesets

/// One instruction of ours meets one of theirs (merge rules, 3).
enum Meeting {
    /// What the loop has to do afterwards, besides going on.
    enum Outcome {
        case nothing
        /// Put the operation directly before ours.
        case prependToOurs(Operation)
        /// Put the operation directly before theirs.
        case prependToTheirs(Operation)
    }

    static func merge(_ x: inout Operation, _ y: inout Operation) throws(MergeError) -> Outcome {
        let before = (x.numbers, y.numbers)
        do throws(RuleFailure) {
            let outcome = try applyRules(&x, &y)
            if x.numbers != before.0 { x.isChanged = true }
            if y.numbers != before.1 { y.isChanged = true }
            return outcome
        } catch {
            throw MergeError(error, ours: x, theirs: y)
        }
    }

    private static func applyRules(
        _ x: inout Operation,
        _ y: inout Operation
    ) throws(RuleFailure) -> Outcome {
        if y.level < x.level {
            try NestedRules.apply(outer: &y, inner: &x)
            if x.isDiscarded { return .nothing }
        } else if x.level < y.level {
            try NestedRules.apply(outer: &x, inner: &y)
            if y.isDiscarded { return .nothing }
        }
        // Whatever the levels. A is the one with the larger type code, ours if they are equal.
        if x.kind.rawValue >= y.kind.rawValue {
            guard let new = try PairRules.apply(&x, &y) else { return .nothing }
            return .prependToTheirs(new)
        } else {
            guard let new = try PairRules.apply(&y, &x) else { return .nothing }
            return .prependToOurs(new)
        }
    }
}

extension Operation {
    /// The numbers of a list instruction, which rules may change and change back.
    fileprivate var numbers: SIMD4<UInt32> {
        SIMD4(index, destination, priorSize, 0)
    }
}
