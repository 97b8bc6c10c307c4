import Changesets

/// Rules 22 to 25: emptying a collection (merge rules, 6).
///
/// The absence of a rule is also a rule (QUIRK N-CLEAR): a Clear whose path ends in an index does
/// not follow its element when a list instruction shifts it.
enum ClearRules {
    /// Rule 22 Clear/Update: the later wins, unless the Update sets the same collection that is
    /// cleared. Whether the Update is a default does not matter.
    static func clearMeetsUpdate(_ a: inout Operation, _ b: inout Operation) throws(MergeError
        .Reason)
    {
        guard a.hasSamePath(as: b), case .clear(let collection) = a.detail,
            case .update(let content, _) = b.detail
        else { return }
        switch (collection, content.payload) {
        case (.list, .list), (.dictionary, .dictionary):
            break
        case (_, .set):
            throw .nestedSet
        default:
            PairRules.discardOlder(&a, &b)
        }
    }

    /// Rule 23 Clear/AddInteger: the new collection is not a number any more.
    static func clearMeetsAddInteger(_ a: inout Operation, _ b: inout Operation) {
        guard a.hasSamePath(as: b) else { return }
        b.discard()
    }

    /// Rule 24 Clear/Clear: the later decides, regardless of the collection types.
    static func clearMeetsClear(_ a: inout Operation, _ b: inout Operation) {
        guard a.hasSamePath(as: b) else { return }
        PairRules.discardOlder(&a, &b)
    }

    /// Rule 25 SetInsert/Clear and SetErase/Clear: clearing wins, regardless of the stamps.
    static func setMeetsClear(_ a: inout Operation, _ b: inout Operation) {
        guard a.hasSamePath(as: b) else { return }
        a.discard()
    }
}
