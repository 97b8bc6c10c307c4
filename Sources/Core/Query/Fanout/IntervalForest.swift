/// Finds the intervals that contain a value.
///
/// Keeps static trees of doubling size: an insertion joins those that are smaller than it. A removal
/// marks an interval, and rebuilds all when half are marked. So `n` intervals take `O(n)` memory, a
/// change `O(log² n)` time on average, and a search `O(log² n)` plus its results.
struct IntervalForest<Bound: Comparable & Hashable & Sendable, Element: Hashable & Sendable>:
    Sendable
{
    private var trees: [Tree] = []
    private var live: Set<Entry> = []
    private var stored = 0

    fileprivate struct Entry: Hashable, Sendable {
        let interval: Interval<Bound>
        let element: Element
    }

    var isEmpty: Bool { live.isEmpty }

    mutating func insert(_ interval: Interval<Bound>, _ element: Element) {
        let entry = Entry(interval: interval, element: element)
        guard live.insert(entry).inserted else { return }
        // A marked one is still in its tree.
        if trees.contains(where: { $0.contains(entry) }) { return }
        var entries = [entry]
        while let last = trees.last, last.entries.count <= entries.count {
            entries += last.entries
            trees.removeLast()
        }
        trees.append(Tree(entries))
        stored += 1
    }

    mutating func remove(_ interval: Interval<Bound>, _ element: Element) {
        live.remove(Entry(interval: interval, element: element))
        guard stored > 2 * live.count else { return }
        trees = live.isEmpty ? [] : [Tree(Array(live))]
        stored = live.count
    }

    func find(_ value: Bound, _ body: (Element) -> Void) {
        for tree in trees {
            tree.find(value) { entry in
                if live.contains(entry) { body(entry.element) }
            }
        }
    }
}

extension IntervalForest {
    /// Intervals by their lower bounds, as a balanced tree: the middle of a range is its root.
    fileprivate struct Tree: Sendable {
        let entries: [Entry]
        /// For each root, the largest upper bound in its range.
        private var largest: [Upper]

        private enum Upper: Sendable {
            case bound(Bound)
            case none

            func reaches(_ value: Bound) -> Bool {
                switch self {
                case .bound(let bound): value <= bound
                case .none: true
                }
            }

            func joined(_ other: Upper) -> Upper {
                switch (self, other) {
                case (.bound(let left), .bound(let right)): .bound(max(left, right))
                case (.none, _), (_, .none): .none
                }
            }
        }

        init(_ entries: [Entry]) {
            self.entries = entries.sorted { left, right in
                guard let rightBound = right.interval.lower else { return false }
                return left.interval.lower.map { $0 < rightBound } ?? true
            }
            self.largest = self.entries.map { $0.interval.upper.map { .bound($0) } ?? .none }
            _ = join(0..<entries.count)
        }

        private mutating func join(_ range: Range<Int>) -> Upper? {
            guard !range.isEmpty else { return nil }
            let root = range.lowerBound + range.count / 2
            for part in [range.lowerBound..<root, root + 1..<range.upperBound] {
                if let upper = join(part) { largest[root] = largest[root].joined(upper) }
            }
            return largest[root]
        }

        func contains(_ entry: Entry) -> Bool {
            guard let value = entry.interval.lower ?? entry.interval.upper else {
                return entries.contains(entry)
            }
            var isFound = false
            find(value) { isFound = isFound || $0 == entry }
            return isFound
        }

        func find(_ value: Bound, _ body: (Entry) -> Void) {
            find(value, in: 0..<entries.count, body)
        }

        private func find(_ value: Bound, in range: Range<Int>, _ body: (Entry) -> Void) {
            guard !range.isEmpty else { return }
            let root = range.lowerBound + range.count / 2
            guard largest[root].reaches(value) else { return }
            find(value, in: range.lowerBound..<root, body)
            let entry = entries[root]
            // Those behind it begin no earlier.
            if let lower = entry.interval.lower, value < lower { return }
            if entry.interval.contains(value) { body(entry) }
            find(value, in: root + 1..<range.upperBound, body)
        }
    }
}
