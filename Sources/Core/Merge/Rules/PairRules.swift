import Changesets

/// The table of the pair rules (merge rules, 6): the rule for two operations, regardless of their
/// levels.
enum PairRules {
    /// The action that the rule leaves to the loop.
    enum Remainder {
        case nothing
        /// Rule 4: the column of A has to be erased before B.
        case eraseColumnBeforeB
    }

    /// Applies the rule of the two kinds, if there is one; A is the operation whose kind has the larger
    /// code, and ours if they are equal.
    static func apply(
        _ a: inout Operation,
        _ b: inout Operation
    ) throws(MergeError.Reason) -> Remainder {
        switch (a.kind, b.kind) {
        case (.addTable, .addTable): try TableRules.addMeetsAdd(&a, &b)  // 1
        case (.eraseTable, .addTable): TableRules.eraseMeetsAdd(&a, &b)  // 2
        case (.eraseTable, .eraseTable): TableRules.eraseMeetsErase(&a, &b)  // 3

        case (.addColumn, .eraseTable): return ColumnRules.addMeetsEraseTable(&a, &b)  // 4
        case (.addColumn, .addColumn): try ColumnRules.addMeetsAdd(&a, &b)  // 9
        case (.eraseColumn, .update): ColumnRules.eraseMeetsUpdate(&a, &b)  // 10
        case (.eraseColumn, .addColumn): ColumnRules.eraseMeetsAdd(&a, &b)  // 11
        case (.eraseColumn, .eraseColumn): ColumnRules.eraseMeetsErase(&a, &b)  // 12

        case (.eraseObject, .createObject): ObjectRules.eraseMeetsCreate(&a, &b)  // 5
        case (.eraseObject, .eraseObject): ObjectRules.eraseMeetsErase(&a, &b)  // 6

        case (.update, .update): try UpdateRules.updateMeetsUpdate(&a, &b)  // 7
        case (.addInteger, .update): UpdateRules.addIntegerMeetsUpdate(&a, &b)  // 8

        case (.arrayInsert, .update): try ArrayRules.insertMeetsUpdate(&a, &b)  // 13
        case (.arrayInsert, .arrayInsert): try ArrayRules.insertMeetsInsert(&a, &b)  // 14
        case (.arrayMove, .update): try ArrayRules.moveMeetsUpdate(&a, &b)  // 15
        case (.arrayMove, .arrayInsert): ArrayRules.moveMeetsInsert(&a, &b)  // 16
        case (.arrayMove, .arrayMove): try ArrayRules.moveMeetsMove(&a, &b)  // 17
        case (.arrayErase, .update): try ArrayRules.eraseMeetsUpdate(&a, &b)  // 18
        case (.arrayErase, .arrayInsert): try ArrayRules.eraseMeetsInsert(&a, &b)  // 19
        case (.arrayErase, .arrayMove): try ArrayRules.eraseMeetsMove(&a, &b)  // 20
        case (.arrayErase, .arrayErase): try ArrayRules.eraseMeetsErase(&a, &b)  // 21

        case (.clear, .update): try ClearRules.clearMeetsUpdate(&a, &b)  // 22
        case (.clear, .addInteger): ClearRules.clearMeetsAddInteger(&a, &b)  // 23
        case (.clear, .clear): ClearRules.clearMeetsClear(&a, &b)  // 24
        case (.setInsert, .clear), (.setErase, .clear): ClearRules.setMeetsClear(&a, &b)  // 25

        case (.setInsert, .setInsert), (.setErase, .setInsert):
            SetRules.setMeetsInsert(&a, &b)  // 26
        case (.setErase, .setErase): SetRules.eraseMeetsErase(&a, &b)  // 27

        // The cells with a dot: a nested rule has handled such a pair.
        default: break
        }
        return .nothing
    }

    /// The usual end of a conflict: the later of the two wins. B goes if the stamps are equal.
    static func discardOlder(_ a: inout Operation, _ b: inout Operation) {
        if a.isOlder(than: b) {
            a.discard()
        } else {
            b.discard()
        }
    }
}
