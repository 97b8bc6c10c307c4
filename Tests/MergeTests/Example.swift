import Changesets
import Testing

@testable import Merge

/// A row of the worked examples: one changeset against one, and the results of both.
struct Example: CustomTestStringConvertible {
    let name: String
    let ours: String
    let theirs: String
    let ourResult: String
    let theirResult: String
    let ourTime: UInt64
    let theirTime: UInt64

    /// Means "unchanged".
    static let same = "="

    init(
        _ name: String,
        _ ours: String,
        _ theirs: String,
        gives ourResult: String,
        _ theirResult: String,
        at times: (UInt64, UInt64) = (10, 20)
    ) {
        self.name = name
        self.ours = ours
        self.theirs = theirs
        self.ourResult = ourResult == Self.same ? ours : ourResult
        self.theirResult = theirResult == Self.same ? theirs : theirResult
        (ourTime, theirTime) = times
    }

    var testDescription: String { "\(name): \(ours) | \(theirs)" }

    /// The same conflict as the other peer sees it.
    var mirrored: Example {
        Example(
            name + " mirrored",
            theirs,
            ours,
            gives: theirResult,
            ourResult,
            at: (theirTime, ourTime)
        )
    }

    func check(_ location: SourceLocation = #_sourceLocation) throws {
        try check(fileIdents: (2, 3), location)
    }

    /// With the same stamp on both sides, which two changesets should never have.
    func checkTie(_ location: SourceLocation = #_sourceLocation) throws {
        try check(fileIdents: (2, 2), location)
    }

    private func check(fileIdents: (UInt64, UInt64), _ location: SourceLocation) throws {
        for engine in [Engine.plain, .indexed] {
            var ours = [operand(self.ours, ourTime, fileIdents.0)]
            var theirs = [operand(self.theirs, theirTime, fileIdents.1)]
            try rebase(ours: &ours, theirs: &theirs, engine: engine)
            #expect(
                Notation.text(of: ours[0].changeset) == ourResult,
                "\(name), ours, \(engine)",
                sourceLocation: location
            )
            #expect(
                Notation.text(of: theirs[0].changeset) == theirResult,
                "\(name), theirs, \(engine)",
                sourceLocation: location
            )
        }
    }

    private func operand(_ text: String, _ time: UInt64, _ ident: UInt64) -> MergeOperand {
        MergeOperand(
            changeset: Notation.changeset(text),
            stamp: Stamp(timestamp: time, fileIdent: ident)
        )
    }
}
