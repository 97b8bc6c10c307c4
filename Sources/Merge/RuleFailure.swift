/// Why two instructions cannot be merged (merge rules, 9). Any of them means a peer whose history
/// does not fit ours.
enum RuleFailure: Error {
    /// Rule 1.
    case tablesDiffer
    /// Rule 9.
    case columnsDiffer
    /// Rules 7, 13, 14, 17-21: two instructions on one list assume different sizes of it.
    case priorSizesDiffer
    /// Rules 13, 15, 17-21: an instruction lies outside the list that it assumes.
    case indexOutOfRange
    /// Section 5: a list instruction meets a path that goes on with a string.
    case inconsistentPaths
    /// Rules 13, 15, 18: a list instruction meets an Update of a dictionary key in its place.
    case listMeetsDictionary
    /// Rule 22: Clear meets an Update with the reserved payload Set.
    case nestedSet
    /// No rule: there is more to do than the caller allows.
    case tooManyPairs
}

/// States what a rule requires of its operands.
func require(_ condition: Bool, else failure: RuleFailure) throws(RuleFailure) {
    guard condition else { throw failure }
}
