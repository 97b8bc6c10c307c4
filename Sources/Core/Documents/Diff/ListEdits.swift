/// The edits that turn one list into another, from left to right (local realm, 4.5).
///
/// Each index refers to the list after the edits before it.
struct ListEdits {
    private(set) var edits: [Edit] = []

    enum Edit: Hashable {
        /// The element there, originally at `old`, becomes the one at `new` in the result.
        case update(index: Int, old: Int, new: Int)
        case insert(index: Int, new: Int)
        case erase(index: Int)
        case move(from: Int, to: Int)
    }

    /// `mayMove` allows a move for an element that only changed its position.
    init(from old: [Value], to new: [Value], mayMove: Bool) {
        var start = 0
        while start < old.count, start < new.count, old[start] == new[start] { start += 1 }
        var (oldEnd, newEnd) = (old.count, new.count)
        while oldEnd > start, newEnd > start, old[oldEnd - 1] == new[newEnd - 1] {
            oldEnd -= 1
            newEnd -= 1
        }
        if mayMove, let move = Self.move(old[start..<oldEnd], new[start..<newEnd]) {
            edits = [move]
            return
        }
        var (oldPosition, newPosition) = (start, start)
        let matches = CommonSubsequence.find(old[start..<oldEnd], new[start..<newEnd])
        for match in matches + [(oldEnd, newEnd)] {
            replace(oldPosition..<match.0, by: newPosition..<match.1)
            (oldPosition, newPosition) = (match.0 + 1, match.1 + 1)
        }
    }

    /// Replaces the elements of a gap between equal ones; everything before is final.
    private mutating func replace(_ old: Range<Int>, by new: Range<Int>) {
        let paired = min(old.count, new.count)
        for offset in 0..<paired {
            edits.append(
                .update(
                    index: new.lowerBound + offset,
                    old: old.lowerBound + offset,
                    new: new.lowerBound + offset
                )
            )
        }
        for offset in (paired..<max(paired, old.count)).reversed() {
            edits.append(.erase(index: new.lowerBound + offset))
        }
        for offset in paired..<max(paired, new.count) {
            edits.append(.insert(index: new.lowerBound + offset, new: new.lowerBound + offset))
        }
    }

    /// The one element that moved by more than one position, if nothing else changed.
    private static func move(_ old: ArraySlice<Value>, _ new: ArraySlice<Value>) -> Edit? {
        guard old.count == new.count, old.count > 2 else { return nil }
        let (first, last) = (old.startIndex, old.endIndex - 1)
        if old[first] == new[last], old.dropFirst().elementsEqual(new.dropLast()) {
            return .move(from: first, to: last)
        }
        if old[last] == new[first], old.dropLast().elementsEqual(new.dropFirst()) {
            return .move(from: last, to: first)
        }
        return nil
    }
}
