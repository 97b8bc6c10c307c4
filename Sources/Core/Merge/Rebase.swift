import Changesets

/// Rebases theirs over ours, both in place, by the rules of the operational transform.
///
/// Afterwards theirs can be applied on top of ours, and ours (now the reciprocal changesets) can be
/// applied on top of theirs. Ours are the changesets of the own history that the other peer had not
/// seen, theirs the incoming ones, each in order (merge rules, 1 and 2).
///
/// After an error both arrays are not usable, and nothing of the batch may be stored.
///
/// - Parameter pairLimit: how many pairs of instructions may meet. Two long histories of one list
///   take the product of their lengths, which is why a server sets a limit (merge rules, 10).
package func rebase(
    ours: inout [MergeOperand],
    theirs: inout [MergeOperand],
    pairLimit: Int = .max
) throws(MergeError) {
    var pairsLeft = pairLimit
    try rebase(ours: &ours, theirs: &theirs, pairsLeft: &pairsLeft)
}

/// The same for one of several merges that share a limit: the pairs that meet are subtracted from
/// `pairsLeft`.
///
/// - Parameter progress: called repeatedly while pairs meet, every few milliseconds.
package func rebase(
    ours: inout [MergeOperand],
    theirs: inout [MergeOperand],
    pairsLeft: inout Int,
    progress: (() -> Void)? = nil
) throws(MergeError) {
    try rebase(
        ours: &ours,
        theirs: &theirs,
        pairsLeft: &pairsLeft,
        engine: .indexed,
        progress: progress
    )
}

/// The two ways to find the pairs of instructions that a rule may affect.
///
/// Both give the same bytes, flags and errors.
enum Engine {
    /// Every instruction of ours meets every one of theirs: the loop that defines the merge.
    case plain
    /// Only the pairs that some rule can act on, from an index of theirs (merge rules, 10).
    case indexed
}

func rebase(
    ours: inout [MergeOperand],
    theirs: inout [MergeOperand],
    pairLimit: Int = .max,
    engine: Engine
) throws(MergeError) {
    var pairsLeft = pairLimit
    try rebase(ours: &ours, theirs: &theirs, pairsLeft: &pairsLeft, engine: engine)
}

private func rebase(
    ours: inout [MergeOperand],
    theirs: inout [MergeOperand],
    pairsLeft: inout Int,
    engine: Engine,
    progress: (() -> Void)? = nil
) throws(MergeError) {
    var symbols = Symbols(objectCapacity: ours.instructionCount + theirs.instructionCount)
    var our = Side(ours, symbols: &symbols)
    var their = Side(theirs, symbols: &symbols)
    let dirtyByQuirk = NaNQuirk.dirtyChangesets(of: our, against: their)
    var meeting = Meeting(pairLimit: pairsLeft, progress: progress)
    defer { pairsLeft = meeting.pairsLeft }
    switch engine {
    case .plain:
        try PlainLoop.run(&our, &their, &meeting)
    case .indexed:
        try IndexedLoop.run(&our, &their, &meeting, objectCount: symbols.objectCount)
    }
    for changeset in dirtyByQuirk { ours[changeset].isDirty = true }
    our.store(into: &ours, symbols)
    their.store(into: &theirs, symbols)
}
