import Changesets

/// The loop of `PlainLoop`, without the pairs that no rule acts on: near linear unless both sides
/// have many instructions on one collection (merge rules, 10).
enum IndexedLoop {
    static func run(
        _ ours: inout Side,
        _ theirs: inout Side,
        _ meeting: inout Meeting,
        objectCount: Int
    ) throws(MergeError) {
        // Erased classes and columns affect everything, and may prepend instructions. They are
        // rare: clients never send them.
        guard !ours.erasesSchema, !theirs.erasesSchema else {
            return try PlainLoop.run(&ours, &theirs, &meeting)
        }
        var index = TheirIndex(of: theirs, against: ours, objectCount: objectCount)
        for position in ours.operations.indices {
            var walk = index.candidates(for: ours.operations[position])
            while let candidate = walk.next(in: &index.chains, of: theirs) {
                // Nothing is prepended: rule 4 needs an EraseTable.
                _ = try meeting.merge(&ours.operations[position], &theirs.operations[candidate])
                if ours.operations[position].isDiscarded { break }
            }
        }
    }
}
