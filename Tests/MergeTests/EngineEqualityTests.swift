import Changesets
import FoundationEssentials
import TestSupport
import Testing

@testable import Merge

/// The indexed engine against the loop that defines the merge, on random changesets.
///
/// `REALM_SEEDS` says how many merges of each style.
@Suite("Indexed engine")
struct EngineEqualityTests {
    static let seeds =
        ProcessInfo.processInfo.environment["REALM_SEEDS"].flatMap(UInt64.init) ?? 1_000

    @Test("It gives what the plain loop gives", arguments: RandomOperands.Style.allCases)
    func equality(_ style: RandomOperands.Style) throws {
        var refused = 0
        for seed in 0..<Self.seeds {
            var random = RandomOperands(seed: seed, style: style)
            let (ours, theirs) = (random.operands(fileIdent: 2), random.operands(fileIdent: 3))
            let plain = Outcome(ours, theirs, engine: .plain)
            let indexed = Outcome(ours, theirs, engine: .indexed)
            #expect(plain == indexed, "seed \(seed)")
            if plain.error != nil { refused += 1 }
        }
        // Most merges have to come to their end for the comparison to mean something.
        #expect(refused < Self.seeds / 2)
        print("\(style): \(Self.seeds) merges by both engines, \(refused) of them refused")
    }

    private struct Outcome: Equatable {
        var ours: [Changeset] = []
        var theirs: [Changeset] = []
        var dirty: [Bool] = []
        var error: MergeError?

        init(_ ours: [MergeOperand], _ theirs: [MergeOperand], engine: Engine) {
            var (ours, theirs) = (ours, theirs)
            do throws(MergeError) {
                try rebase(ours: &ours, theirs: &theirs, engine: engine)
                self.ours = ours.map(\.changeset)
                self.theirs = theirs.map(\.changeset)
                dirty = (ours + theirs).map(\.isDirty)
            } catch {
                self.error = error
            }
        }
    }
}
