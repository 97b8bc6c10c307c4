/// Rules 1 to 3: adding and erasing classes (merge rules, 6).
enum TableRules {
    /// Rule 1 AddTable/AddTable: a class that both sides added already exists.
    static func addMeetsAdd(_ a: inout Operation, _ b: inout Operation) throws(MergeError.Reason) {
        guard a.hasSameClass(as: b), case .table(let ours) = a.detail,
            case .table(let theirs) = b.detail
        else { return }
        try require(ours == theirs, else: .classesDiffer)
        a.discard()
        b.discard()
    }

    /// Rule 2 EraseTable/AddTable: the class goes.
    static func eraseMeetsAdd(_ a: inout Operation, _ b: inout Operation) {
        guard a.hasSameClass(as: b) else { return }
        b.discard()
    }

    /// Rule 3 EraseTable/EraseTable: both did the same.
    static func eraseMeetsErase(_ a: inout Operation, _ b: inout Operation) {
        guard a.hasSameClass(as: b) else { return }
        a.discard()
        b.discard()
    }
}
