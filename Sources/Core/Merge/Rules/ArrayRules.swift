/// Rules 13 to 21: two instructions in one list (merge rules, 6).
///
/// All of them are for operations with the same container. Numbers wrap: with possible list sizes
/// they never come near the limit, and an invalid changeset must not crash the process.
enum ArrayRules {
    /// Rule 13 ArrayInsert/Update: the element moves up if the new one lands at or before it.
    static func insertMeetsUpdate(_ a: inout Operation, _ b: inout Operation) throws(MergeError
        .Reason)
    {
        guard a.hasSameContainer(as: b) else { return }
        try requireIndex(b)
        try require(a.priorSize == b.priorSize, else: .listSizesDiffer)
        try require(a.index <= a.priorSize && b.index < b.priorSize, else: .indexOutOfRange)
        b.priorSize &+= 1
        if b.index >= a.index { b.index &+= 1 }
    }

    /// Rule 14 ArrayInsert/ArrayInsert: both elements stay, at the same place in the order of their
    /// stamps.
    static func insertMeetsInsert(_ a: inout Operation, _ b: inout Operation) throws(MergeError
        .Reason)
    {
        guard a.hasSameContainer(as: b) else { return }
        try require(a.priorSize == b.priorSize, else: .listSizesDiffer)
        a.priorSize &+= 1
        b.priorSize &+= 1
        if a.index > b.index {
            a.index &+= 1
        } else if a.index < b.index {
            b.index &+= 1
        } else if a.isOlder(than: b) {
            b.index &+= 1
        } else {
            a.index &+= 1
        }
    }

    /// Rule 15 ArrayMove/Update: the update follows the element. Prior sizes are not compared.
    static func moveMeetsUpdate(_ a: inout Operation, _ b: inout Operation) throws(MergeError
        .Reason)
    {
        guard a.hasSameContainer(as: b) else { return }
        try requireIndex(b)
        try require(a.index < a.priorSize && b.index < b.priorSize, else: .indexOutOfRange)
        if b.index == a.index {
            b.index = a.destination
        } else {
            if b.index > a.index { b.index &-= 1 }
            if b.index >= a.destination { b.index &+= 1 }
        }
    }

    /// Rule 16 ArrayMove/ArrayInsert: nothing is checked, and only the move's prior size grows.
    static func moveMeetsInsert(_ a: inout Operation, _ b: inout Operation) {
        guard a.hasSameContainer(as: b) else { return }
        a.priorSize &+= 1
        if b.index > a.index {
            b.index &-= 1
        } else {
            a.index &+= 1
        }
        if b.index < a.destination {
            a.destination &+= 1
        } else if b.index > a.destination {
            b.index &+= 1
        } else if a.isOlder(than: b) {
            a.destination &+= 1
        } else {
            b.index &+= 1
        }
    }

    /// Rule 17 ArrayMove/ArrayMove: of two moves of one element the later decides; moves of different
    /// elements both stay, unless one has become a move onto itself.
    static func moveMeetsMove(_ a: inout Operation, _ b: inout Operation) throws(MergeError.Reason)
    {
        guard a.hasSameContainer(as: b) else { return }
        try require(a.priorSize == b.priorSize, else: .listSizesDiffer)
        try require(
            max(a.index, a.destination, b.index, b.destination) < a.priorSize,
            else: .indexOutOfRange
        )
        if a.index == b.index {
            moveMeetsMoveOfSameElement(&a, &b)
        } else {
            moveMeetsMoveOfOtherElement(&a, &b)
        }
    }

    /// The first half of rule 17.
    private static func moveMeetsMoveOfSameElement(_ a: inout Operation, _ b: inout Operation) {
        if a.isOlder(than: b) {
            b.index = a.destination
            a.discard()
            if b.index == b.destination { b.discard() }
        } else {
            a.index = b.destination
            if a.index == a.destination { a.discard() }
            b.discard()
        }
    }

    /// The second half of rule 17; each step uses the result of the one before.
    private static func moveMeetsMoveOfOtherElement(_ a: inout Operation, _ b: inout Operation) {
        // (a)
        if a.index < b.index {
            b.index &-= 1
        } else {
            a.index &-= 1
        }
        // (b)
        if a.destination > b.index {
            a.destination &-= 1
        } else {
            b.index &+= 1
        }
        // (c)
        if a.index < b.destination {
            b.destination &-= 1
        } else {
            a.index &+= 1
        }
        // (d)
        if a.destination < b.destination {
            b.destination &+= 1
        } else if a.destination > b.destination {
            a.destination &+= 1
        } else if a.isOlder(than: b) {
            b.destination &+= 1
        } else {
            a.destination &+= 1
        }
        // (e)
        if a.index == a.destination { a.discard() }
        if b.index == b.destination { b.discard() }
    }

    /// Rule 18 ArrayErase/Update: the value goes with its element.
    static func eraseMeetsUpdate(_ a: inout Operation, _ b: inout Operation) throws(MergeError
        .Reason)
    {
        guard a.hasSameContainer(as: b) else { return }
        try requireIndex(b)
        try require(a.priorSize == b.priorSize, else: .listSizesDiffer)
        try require(a.index < a.priorSize && b.index < b.priorSize, else: .indexOutOfRange)
        b.priorSize &-= 1
        if a.index == b.index {
            b.discard()
        } else if b.index > a.index {
            b.index &-= 1
        }
    }

    /// Rule 19 ArrayErase/ArrayInsert: both stay.
    static func eraseMeetsInsert(_ a: inout Operation, _ b: inout Operation) throws(MergeError
        .Reason)
    {
        guard a.hasSameContainer(as: b) else { return }
        try require(a.priorSize == b.priorSize, else: .listSizesDiffer)
        try require(a.index < a.priorSize && b.index <= b.priorSize, else: .indexOutOfRange)
        a.priorSize &+= 1
        b.priorSize &-= 1
        if b.index <= a.index {
            a.index &+= 1
        } else {
            b.index &-= 1
        }
    }

    /// Rule 20 ArrayErase/ArrayMove: the element goes, wherever it was moved. The erase keeps its prior
    /// size.
    static func eraseMeetsMove(_ a: inout Operation, _ b: inout Operation) throws(MergeError.Reason)
    {
        guard a.hasSameContainer(as: b) else { return }
        try require(a.priorSize == b.priorSize, else: .listSizesDiffer)
        try require(a.index < a.priorSize && b.index < b.priorSize, else: .indexOutOfRange)
        b.priorSize &-= 1
        guard a.index != b.index else {
            a.index = b.destination
            return b.discard()
        }
        // (a)
        if a.index > b.index {
            a.index &-= 1
        } else {
            b.index &-= 1
        }
        // (b)
        if a.index >= b.destination {
            a.index &+= 1
        } else {
            b.destination &-= 1
        }
        // (c)
        if b.index == b.destination { b.discard() }
    }

    /// Rule 21 ArrayErase/ArrayErase: the same element is erased once.
    static func eraseMeetsErase(_ a: inout Operation, _ b: inout Operation) throws(MergeError
        .Reason)
    {
        guard a.hasSameContainer(as: b) else { return }
        try require(a.priorSize == b.priorSize, else: .listSizesDiffer)
        try require(a.index < a.priorSize && b.index < b.priorSize, else: .indexOutOfRange)
        a.priorSize &-= 1
        b.priorSize &-= 1
        if a.index > b.index {
            a.index &-= 1
        } else if a.index < b.index {
            b.index &-= 1
        } else {
            a.discard()
            b.discard()
        }
    }

    /// In the container of a list instruction an Update must have an index; with a string, it
    /// treats the same Mixed value as a dictionary.
    private static func requireIndex(_ update: Operation) throws(MergeError.Reason) {
        try require(update.end == .index, else: .listMeetsDictionary)
    }
}
