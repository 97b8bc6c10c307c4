/// The loop that defines the merge: every instruction of ours, in order, meets every one of theirs,
/// in order (merge rules, 3).
///
/// It costs the product of both sizes. `IndexedLoop` has the same result and visits fewer pairs.
enum PlainLoop {
    static func run(
        _ ours: inout Side,
        _ theirs: inout Side,
        _ meeting: inout Meeting
    ) throws(MergeError) {
        var position = 0
        while position < ours.operations.count {
            position = try meetAll(&ours, position, &theirs, from: 0, &meeting) + 1
        }
    }

    /// Lets one of ours meet theirs from `start` on, and returns its position afterwards:
    /// instructions prepended to it have met theirs too.
    private static func meetAll(
        _ ours: inout Side,
        _ position: Int,
        _ theirs: inout Side,
        from start: Int,
        _ meeting: inout Meeting
    ) throws(MergeError) -> Int {
        var (i, j) = (position, start)
        while j < theirs.operations.count {
            if !theirs.operations[j].isDiscarded {
                switch try meeting.merge(&ours.operations[i], &theirs.operations[j]) {
                case .nothing:
                    break
                case .prependToTheirs:
                    let erasure = Operation(
                        erasingColumnOf: ours.operations[i],
                        before: theirs.operations[j]
                    )
                    // It does not meet the current one of ours, only later ones.
                    theirs.prepend(erasure, at: j)
                    j += 1
                case .prependToOurs:
                    let erasure = Operation(
                        erasingColumnOf: theirs.operations[j],
                        before: ours.operations[i]
                    )
                    ours.prepend(erasure, at: i)
                    i = try meetAll(&ours, i, &theirs, from: j + 1, &meeting) + 1
                }
            }
            if ours.operations[i].isDiscarded { break }
            j += 1
        }
        return i
    }
}
