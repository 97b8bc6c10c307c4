import Changesets

/// Rebases theirs over ours, both in place, by the rules of the operational transform.
///
/// Afterwards theirs can be applied on top of ours, and ours (now the reciprocal changesets) is what
/// ours would have to be on top of theirs. Ours are the changesets of the own history that the other
/// peer had not seen, theirs the incoming ones, each in order (merge rules, 1 and 2).
///
/// After an error both arrays are of no use any more, and nothing of the batch may be stored.
package func rebase(
    ours: inout [MergeOperand],
    theirs: inout [MergeOperand]
) throws(MergeError) {
    var symbols = Symbols()
    var our = Side(ours, symbols: &symbols)
    var their = Side(theirs, symbols: &symbols)
    try PlainLoop.run(&our, &their)
    our.store(into: &ours, symbols)
    their.store(into: &theirs, symbols)
}
