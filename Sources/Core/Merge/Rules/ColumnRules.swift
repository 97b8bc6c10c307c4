import Changesets

/// Rules 4 and 9 to 12: adding and erasing columns (merge rules, 6).
///
/// The absence of a rule is also a rule: EraseColumn does not affect AddInteger, list, Clear and
/// set instructions on the column (exception MIXCOL of section 8).
enum ColumnRules {
    /// Rule 4 AddColumn/EraseTable: a column cannot point to an erased class. The side that erases
    /// the class first erases the column, which the other side has.
    static func addMeetsEraseTable(
        _ a: inout Operation,
        _ b: inout Operation
    ) -> PairRules.Remainder {
        guard case .column(let column) = a.detail, column.type == .link,
            column.linkTarget == b.place.className
        else { return .nothing }
        a.discard()
        return .eraseColumnBeforeB
    }

    /// Rule 9 AddColumn/AddColumn: a column that both sides added already exists.
    static func addMeetsAdd(_ a: inout Operation, _ b: inout Operation) throws(MergeError.Reason) {
        guard a.hasSameColumn(as: b), case .column(let ours) = a.detail,
            case .column(let theirs) = b.detail
        else { return }
        try require(ours == theirs, else: .columnsDiffer)
        a.discard()
        b.discard()
    }

    /// Rule 10 EraseColumn/Update: the value goes with its column, in any object and at any path.
    static func eraseMeetsUpdate(_ a: inout Operation, _ b: inout Operation) {
        guard a.hasSameColumn(as: b) else { return }
        b.discard()
    }

    /// Rule 11 EraseColumn/AddColumn: the column goes.
    static func eraseMeetsAdd(_ a: inout Operation, _ b: inout Operation) {
        guard a.hasSameColumn(as: b) else { return }
        b.discard()
    }

    /// Rule 12 EraseColumn/EraseColumn: both did the same.
    static func eraseMeetsErase(_ a: inout Operation, _ b: inout Operation) {
        guard a.hasSameColumn(as: b) else { return }
        a.discard()
        b.discard()
    }
}
