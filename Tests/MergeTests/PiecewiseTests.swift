import Changesets
import FoundationEssentials
import TestSupport
import Testing

@testable import Merge

/// A batch has the same result whether it is merged at once or in pieces, as long as each piece
/// meets ours as changed by the pieces before it (merge rules, 2).
@Suite("Merging in pieces")
struct PiecewiseTests {
    static let seeds =
        ProcessInfo.processInfo.environment["REALM_SEEDS"].flatMap(UInt64.init) ?? 500

    @Test("Theirs one by one", arguments: RandomOperands.Style.allCases)
    func theirsInPieces(_ style: RandomOperands.Style) throws {
        try checkAll(style) { ours, theirs in
            for position in theirs.indices {
                var piece = [theirs[position]]
                try rebase(ours: &ours, theirs: &piece)
                theirs[position] = piece[0]
            }
        }
    }

    @Test("Ours one by one", arguments: RandomOperands.Style.allCases)
    func oursInPieces(_ style: RandomOperands.Style) throws {
        try checkAll(style) { ours, theirs in
            for position in ours.indices {
                var piece = [ours[position]]
                try rebase(ours: &piece, theirs: &theirs)
                ours[position] = piece[0]
            }
        }
    }

    private func checkAll(
        _ style: RandomOperands.Style,
        inPieces merge: (inout [MergeOperand], inout [MergeOperand]) throws -> Void
    ) throws {
        var compared = 0
        for seed in 0..<Self.seeds {
            var random = RandomOperands(seed: seed, style: style)
            let (ours, theirs) = (random.operands(fileIdent: 2), random.operands(fileIdent: 3))
            var whole = (ours, theirs)
            var pieces = (ours, theirs)
            do {
                try rebase(ours: &whole.0, theirs: &whole.1)
            } catch {
                #expect(throws: MergeError.self, "seed \(seed)") {
                    try merge(&pieces.0, &pieces.1)
                }
                continue
            }
            try merge(&pieces.0, &pieces.1)
            #expect(whole.0.map(\.changeset) == pieces.0.map(\.changeset), "seed \(seed), ours")
            #expect(whole.1.map(\.changeset) == pieces.1.map(\.changeset), "seed \(seed), theirs")
            compared += 1
        }
        #expect(compared > Self.seeds / 2)
    }
}
