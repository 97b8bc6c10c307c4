import Changesets
import Versions

/// Tracks the positions of elements that the recovery itself has put into a list: in the list as
/// the local changes saw it, and in the server's (client reset, 7.3).
///
/// Without the server's history the positions of the other elements are unknown, so a change to one
/// of them requires the whole list to be copied from the local state.
struct ListTracker {
    enum Copy {
        case none
        /// Needed at the end of the changeset.
        case wanted
        /// The list has its final content.
        case done
        /// Copied, except for links to objects that did not exist yet.
        case incomplete
    }

    private struct Known {
        private(set) var local: UInt32
        private(set) var fresh: UInt32

        // The indexes come from stored changesets, which may be damaged.

        mutating func moveLocal(by step: Int64) {
            local = UInt32(clamping: Int64(local) + step)
        }

        mutating func moveFresh(by step: Int64) {
            fresh = UInt32(clamping: Int64(fresh) + step)
        }

        init(local: UInt32, fresh: UInt32) {
            (self.local, self.fresh) = (local, fresh)
        }
    }

    /// Ascending by both indexes: no operation moves an element past another in one list only.
    private var known: [Known] = []
    private(set) var copy = Copy.none

    /// Whether operations can be skipped, since the whole list is or will be replaced.
    var isCopied: Bool { copy != .none }

    mutating func wantCopy() {
        switch copy {
        case .none, .incomplete: copy = .wanted
        case .wanted, .done: break
        }
        known = []
    }

    mutating func finishCopy(isComplete: Bool) {
        copy = isComplete ? .done : .incomplete
    }

    /// The position for a new element in a list of that size.
    mutating func insert(at local: UInt32, size: Int) -> UInt32 {
        let place = place(of: local)
        var fresh = min(local, UInt32(clamping: size))
        if place > 0 { fresh = max(fresh, known[place - 1].fresh.adding(clamping: 1)) }
        if place < known.count { fresh = min(fresh, known[place].fresh) }
        add(Known(local: local, fresh: fresh), at: place)
        return fresh
    }

    /// A local element that the server's list does not get.
    ///
    /// The reference does not count it, and may apply a later change of it to a neighbour.
    mutating func skipInsert(at local: UInt32) {
        for place in known.indices where known[place].local >= local {
            known[place].moveLocal(by: 1)
        }
    }

    /// The element's index in the server's list; nil if the recovery did not put it there.
    func freshIndex(of local: UInt32) -> UInt32? {
        let place = place(of: local)
        guard place < known.count, known[place].local == local else { return nil }
        return known[place].fresh
    }

    mutating func erase(at local: UInt32) -> UInt32? {
        let place = place(of: local)
        guard place < known.count, known[place].local == local else { return nil }
        return remove(at: place).fresh
    }

    mutating func move(from: UInt32, to: UInt32) -> (from: UInt32, to: UInt32)? {
        guard let freshFrom = freshIndex(of: from), let freshTo = freshIndex(of: to) else {
            return nil
        }
        _ = remove(at: place(of: from))
        add(Known(local: to, fresh: freshTo), at: place(of: to))
        return (freshFrom, freshTo)
    }

    /// An element was removed from the server's list along with the object it linked to.
    mutating func lose(fresh index: UInt32) {
        known.removeAll { $0.fresh == index }
        for place in known.indices where known[place].fresh > index {
            known[place].moveFresh(by: -1)
        }
    }

    private mutating func add(_ new: Known, at place: Int) {
        for later in known.indices[place...] {
            known[later].moveLocal(by: 1)
            known[later].moveFresh(by: 1)
        }
        known.insert(new, at: place)
    }

    private mutating func remove(at place: Int) -> Known {
        for later in known.indices[(place + 1)...] {
            known[later].moveLocal(by: -1)
            known[later].moveFresh(by: -1)
        }
        return known.remove(at: place)
    }

    /// Of the first element that is not before the index.
    private func place(of local: UInt32) -> Int {
        var (low, high) = (0, known.count)
        while low < high {
            let middle = (low + high) / 2
            if known[middle].local < local { low = middle + 1 } else { high = middle }
        }
        return low
    }
}

/// Identifies a list that recovery tracks: a property, or a place below it that is not inside
/// another list.
struct ListPlace: Hashable {
    let object: ObjectReference
    let field: Text
    /// Names of embedded properties and keys of dictionaries.
    var steps: [Text]

    /// Whether the place is that one or inside it.
    func isInside(_ field: Text, _ steps: [Text]) -> Bool {
        self.field == field && self.steps.starts(with: steps)
    }

    func precedes(_ other: ListPlace) -> Bool {
        if object != other.object { return object.precedes(other.object) }
        return ([field] + steps).lexicographicallyPrecedes([other.field] + other.steps)
    }
}
