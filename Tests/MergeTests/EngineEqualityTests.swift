import Changesets
import FoundationEssentials
import TestSupport
import Testing

@testable import Merge

/// The indexed engine against the loop that defines the merge, on random changesets.
///
/// `REALM_SEEDS` sets the number of merges of each style.
@Suite("Indexed engine")
struct EngineEqualityTests {
    static let seeds =
        ProcessInfo.processInfo.environment["REALM_SEEDS"].flatMap(UInt64.init) ?? 1_000

    @Test("It has the result of the plain loop", arguments: RandomOperands.Style.allCases)
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
        // Most merges have to succeed for the comparison to mean something.
        #expect(refused < Self.seeds / 2)
        print("\(style): \(Self.seeds) merges by both engines, \(refused) of them refused")
    }

    @Test(
        "Changesets that cannot meet theirs may be left out: they stay unchanged, as does the result",
        arguments: RandomOperands.Style.allCases
    )
    func leavingOut(_ style: RandomOperands.Style) throws {
        var (leftOut, refused) = (0, 0)
        for seed in 0..<Self.seeds {
            var random = RandomOperands(seed: seed, style: style)
            let (ours, theirs) = (random.operands(fileIdent: 2), random.operands(fileIdent: 3))
            let places = TouchedPlaces(of: theirs)
            let isNear = ours.map { places.mayMeet($0.changeset) }
            let whole = Outcome(ours, theirs, engine: .plain)
            let partial = Outcome(
                zip(ours, isNear).filter(\.1).map(\.0),
                theirs,
                engine: .indexed
            )
            // The number of the changeset locates a failure.
            #expect((whole.error == nil) == (partial.error == nil), "seed \(seed)")
            guard whole.error == nil else {
                refused += 1
                continue
            }
            #expect(whole.theirs == partial.theirs, "seed \(seed)")
            #expect(zip(whole.ours, isNear).filter(\.1).map(\.0) == partial.ours, "seed \(seed)")
            for (index, original) in ours.enumerated() where !isNear[index] {
                #expect(whole.ours[index] == original.changeset, "seed \(seed)")
                leftOut += 1
            }
        }
        #expect(refused < Self.seeds / 2)
        print("\(style): \(Self.seeds) merges, \(leftOut) changesets left out, \(refused) refused")
    }

    @Test(
        "Merging only the changesets that may meet gives the same changesets, flags and errors",
        arguments: RandomOperands.Style.allCases
    )
    func meetingOnly(_ style: RandomOperands.Style) throws {
        var (leftOut, refused) = (0, 0)
        for seed in 0..<3 * Self.seeds {
            var random = RandomOperands(seed: seed, style: style)
            var (ours, theirs) = (random.operands(fileIdent: 2), random.operands(fileIdent: 3))
            // Others of each side, about objects of their own and without instructions.
            ours.insert(random.distantOperand(fileIdent: 2), at: Int(seed % 2))
            theirs.insert(random.distantOperand(fileIdent: 3), at: 0)
            let whole = Outcome(ours, theirs, engine: .indexed)
            let part = Outcome(ours, theirs) { ours, theirs throws(MergeError) in
                var pairsLeft = Int.max
                try rebaseMeeting(ours: &ours, theirs: &theirs, pairsLeft: &pairsLeft)
            }
            #expect(whole == part, "seed \(seed)")
            if whole.error != nil { refused += 1 }
            let places = TouchedPlaces(of: ours)
            leftOut += theirs.count { !places.mayMeet($0.changeset) }
        }
        #expect(refused < Self.seeds * 3 / 2)
        #expect(leftOut > 0)
    }

    @Test("With a NaN in ours nothing is left out: links decide which flags are set")
    func meetingWithNaN() throws {
        var nan = ChangesetWriter()
        let (one, two) = (
            ObjectReference(className: "C", key: .int(1)),
            ObjectReference(className: "C", key: .int(2))
        )
        nan.update(one, "x", to: .scalar(.double(DoubleBits(.nan))))
        var far = ChangesetWriter()
        far.update(two, "next", to: .scalar(.link(one)))
        let stamps = (Stamp(timestamp: 1, fileIdent: 2), Stamp(timestamp: 1, fileIdent: 3))
        let ours = [MergeOperand(changeset: try Changeset(decoding: nan.bytes), stamp: stamps.0)]
        let theirs = [MergeOperand(changeset: try Changeset(decoding: far.bytes), stamp: stamps.1)]
        let whole = Outcome(ours, theirs, engine: .plain)
        let part = Outcome(ours, theirs) { ours, theirs throws(MergeError) in
            var pairsLeft = Int.max
            try rebaseMeeting(ours: &ours, theirs: &theirs, pairsLeft: &pairsLeft)
        }
        #expect(whole == part)
        #expect(whole.dirty == [true, false])
    }

    private struct Outcome: Equatable {
        var ours: [Changeset] = []
        var theirs: [Changeset] = []
        var dirty: [Bool] = []
        var error: MergeError?

        init(_ ours: [MergeOperand], _ theirs: [MergeOperand], engine: Engine) {
            self.init(ours, theirs) { ours, theirs throws(MergeError) in
                try rebase(ours: &ours, theirs: &theirs, engine: engine)
            }
        }

        init(
            _ ours: [MergeOperand],
            _ theirs: [MergeOperand],
            merge: (inout [MergeOperand], inout [MergeOperand]) throws(MergeError) -> Void
        ) {
            var (ours, theirs) = (ours, theirs)
            do throws(MergeError) {
                try merge(&ours, &theirs)
                self.ours = ours.map(\.changeset)
                self.theirs = theirs.map(\.changeset)
                dirty = (ours + theirs).map(\.isDirty)
            } catch {
                self.error = error
            }
        }
    }
}
