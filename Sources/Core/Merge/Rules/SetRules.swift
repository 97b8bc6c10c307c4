/// Rules 26 and 27: two instructions on one set (merge rules, 6).
enum SetRules {
    /// Rule 26 SetInsert/SetInsert and SetErase/SetInsert: about one value, the later decides.
    static func setMeetsInsert(_ a: inout Operation, _ b: inout Operation) {
        guard a.hasSamePath(as: b), case .element(let ours) = a.detail,
            case .element(let theirs) = b.detail, ours.isSame(as: theirs)
        else { return }
        PairRules.discardOlder(&a, &b)
    }

    /// Rule 27 SetErase/SetErase: the later survives, but what "one value" means is QUIRK S-RAW.
    static func eraseMeetsErase(_ a: inout Operation, _ b: inout Operation) {
        guard a.hasSamePath(as: b), case .element(let ours) = a.detail,
            case .element(let theirs) = b.detail, ours.isRawEqual(to: theirs)
        else { return }
        PairRules.discardOlder(&a, &b)
    }
}
