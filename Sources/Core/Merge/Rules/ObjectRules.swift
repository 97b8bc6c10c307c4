/// Rules 5 and 6: creating and erasing objects (merge rules, 6).
enum ObjectRules {
    /// Rule 5 EraseObject/CreateObject: erasing wins, regardless of the stamps.
    static func eraseMeetsCreate(_ a: inout Operation, _ b: inout Operation) {
        guard a.hasSameObject(as: b) else { return }
        b.discard()
    }

    /// Rule 6 EraseObject/EraseObject: the newer survives, so that a newer erase-and-create outlives an
    /// older erase. With equal stamps A goes; this is the one rule where it does.
    static func eraseMeetsErase(_ a: inout Operation, _ b: inout Operation) {
        guard a.hasSameObject(as: b) else { return }
        if b.isOlder(than: a) {
            b.discard()
        } else {
            a.discard()
        }
    }
}
