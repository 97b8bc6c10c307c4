package import Changesets

/// A set of scalars or links, each once, in reading order (instruction semantics, 1.7).
///
/// Numbers of different types are one element if they are numerically equal; the representation
/// that came first stays. Equality of two sets compares representations.
package struct ValueSet: Hashable, Sendable {
    package private(set) var elements: [Scalar]

    package init() {
        self.elements = []
    }

    package init(_ elements: some Sequence<Scalar>) {
        self.elements = []
        for element in elements {
            insert(element)
        }
    }

    package var count: Int { elements.count }
    package var isEmpty: Bool { elements.isEmpty }

    package func contains(_ element: Scalar) -> Bool {
        place(of: element).isPresent
    }

    /// False if the element already existed.
    @discardableResult
    package mutating func insert(_ element: Scalar) -> Bool {
        // Stored sets are read back in order.
        if let last = elements.last, last.readingOrder(to: element) == .ascending {
            elements.append(element)
            return true
        }
        let place = place(of: element)
        guard !place.isPresent else { return false }
        elements.insert(element, at: place.position)
        return true
    }

    /// False if there was no such element.
    @discardableResult
    package mutating func erase(_ element: Scalar) -> Bool {
        let place = place(of: element)
        guard place.isPresent else { return false }
        elements.remove(at: place.position)
        return true
    }

    /// The position of the element, or the one where it would be inserted.
    private func place(of element: Scalar) -> (position: Int, isPresent: Bool) {
        var (low, high) = (0, elements.count)
        while low < high {
            let middle = (low + high) / 2
            switch elements[middle].readingOrder(to: element) {
            case .ascending: low = middle + 1
            case .descending: high = middle
            case .same: return (middle, true)
            }
        }
        return (low, false)
    }
}
