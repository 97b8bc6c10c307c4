import Changesets

/// One instruction of ours meets one of theirs (merge rules, 3).
struct Meeting {
    /// The pairs that may still meet; slow comparisons count several times.
    private(set) var pairsLeft: Int
    private let progress: (() -> Void)?
    private var pairsToProgress = Self.pairsBetweenProgress

    /// A few milliseconds of work.
    private static let pairsBetweenProgress = 1 << 16

    init(pairLimit: Int, progress: (() -> Void)? = nil) {
        self.pairsLeft = pairLimit
        self.progress = progress
    }

    /// The action that the loop must take after a pair.
    enum Outcome {
        case nothing
        /// Put directly before ours an instruction that erases the column of theirs.
        case prependToOurs
        /// Put directly before theirs an instruction that erases the column of ours.
        case prependToTheirs
    }

    mutating func merge(_ x: inout Operation, _ y: inout Operation) throws(MergeError) -> Outcome {
        let cost = 1 + x.comparisonCost(with: y)
        guard pairsLeft >= cost else { throw MergeError(.tooManyPairs, ours: x, theirs: y) }
        pairsLeft -= cost
        pairsToProgress -= cost
        if pairsToProgress <= 0 { reportProgress() }
        let before = (x.numbers, y.numbers)
        do throws(MergeError.Reason) {
            let outcome = try Self.applyRules(&x, &y)
            if x.numbers != before.0 { x.isChanged = true }
            if y.numbers != before.1 { y.isChanged = true }
            return outcome
        } catch {
            throw MergeError(error, ours: x, theirs: y)
        }
    }

    private mutating func reportProgress() {
        pairsToProgress = Self.pairsBetweenProgress
        progress?()
    }

    private static func applyRules(
        _ x: inout Operation,
        _ y: inout Operation
    ) throws(MergeError.Reason) -> Outcome {
        if y.level < x.level {
            try NestedRules.apply(outer: &y, inner: &x)
            if x.isDiscarded { return .nothing }
        } else if x.level < y.level {
            try NestedRules.apply(outer: &x, inner: &y)
            if y.isDiscarded { return .nothing }
        }
        // Regardless of the levels. A is the one with the larger type code, ours if they are equal.
        if x.kind.rawValue >= y.kind.rawValue {
            return try PairRules.apply(&x, &y) == .nothing ? .nothing : .prependToTheirs
        } else {
            return try PairRules.apply(&y, &x) == .nothing ? .nothing : .prependToOurs
        }
    }
}

extension Operation {
    /// The extra cost of long paths and long values of sets, in pairs of short ones.
    fileprivate func comparisonCost(with other: Operation) -> Int {
        let steps = min(container.count, other.container.count) / 16
        guard case .element(let ours) = detail, case .element(let theirs) = other.detail else {
            return steps
        }
        return steps + ours.sizeToCompare(with: theirs) / 128
    }

    /// The numbers of a list instruction, which rules may change and change back.
    fileprivate var numbers: SIMD4<UInt32> {
        SIMD4(index, destination, priorSize, 0)
    }
}
