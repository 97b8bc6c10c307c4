import Changesets

/// Rules 7 and 8: which value wins (merge rules, 6).
enum UpdateRules {
    /// Rule 7 Update/Update: the later value wins, except that a value beats a default and an embedded
    /// object gives way to anything else.
    static func updateMeetsUpdate(_ a: inout Operation, _ b: inout Operation) throws(MergeError
        .Reason)
    {
        guard a.hasSamePath(as: b), case .update(let ours, let oursIsDefault) = a.detail,
            case .update(let theirs, let theirsIsDefault) = b.detail
        else { return }
        // Step 1. Paths without index have no prior size, on either side.
        try require(a.priorSize == b.priorSize, else: .listSizesDiffer)

        switch (ours.payload, theirs.payload) {
        case (.objectValue, .objectValue):
            break  // Step 4: the newer creation survives.
        case (.objectValue, _):  // Step 2.
            return a.discard()
        case (_, .objectValue):  // Step 2.
            return b.discard()
        case (.list, .list), (.dictionary, .dictionary):
            return  // Step 3: creating the collection again keeps its content, so both may stay.
        default:
            break
        }
        if oursIsDefault == theirsIsDefault {
            PairRules.discardOlder(&a, &b)  // Step 4.
        } else if oursIsDefault {
            a.discard()  // Step 5: regardless of the stamps.
        } else {
            b.discard()
        }
    }

    /// Rule 8 AddInteger/Update: a later value replaces the sum; an earlier one, or a default, counts as
    /// the value that was added to. The AddInteger itself stays as it is.
    static func addIntegerMeetsUpdate(_ a: inout Operation, _ b: inout Operation) {
        guard a.hasSamePath(as: b), case .addInteger(let amount) = a.detail,
            case .update(var content, let isDefault) = b.detail
        else { return }
        guard b.isOlder(than: a) || isDefault else { return a.discard() }
        switch content.payload {
        case .null:
            break
        case .int(let value):
            guard amount != 0 else { break }
            content.payload = .int(value &+ amount)
            b.detail = .update(content, isDefault: isDefault)
            b.isChanged = true
        default:
            a.discard()
        }
    }
}
