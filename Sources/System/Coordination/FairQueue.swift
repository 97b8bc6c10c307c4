/// A queue for one server that serves its sources in turn: a source with very many elements delays
/// the others by one element each, not by all of its own.
///
/// When it is full, the source with the most elements loses its latest one.
package struct FairQueue<Source: Hashable, Element> {
    package let capacity: Int

    private var elements: [Source: ArraySlice<Element>] = [:]
    /// Sources with elements, the next one to be served first.
    private var turns: ArraySlice<Source> = []
    package private(set) var count = 0

    package init(capacity: Int = .max) {
        self.capacity = capacity
    }

    /// Adds an element. When full, returns the element that was dropped: this one, or another in
    /// its place.
    package mutating func append(_ element: Element, from source: Source) -> Element? {
        if elements[source] == nil { turns.append(source) }
        elements[source, default: []].append(element)
        count += 1
        guard count > capacity else { return nil }
        // On a tie the newcomer's source loses: accepted elements stay.
        var longest = source
        for other in turns where length(of: other) > length(of: longest) { longest = other }
        return removeLast(of: longest)
    }

    /// Returns the next element and moves its source to the end.
    package mutating func next() -> Element? {
        guard let source = turns.popFirst(), let element = elements[source]?.popFirst() else {
            return nil
        }
        count -= 1
        if length(of: source) == 0 { elements[source] = nil } else { turns.append(source) }
        return element
    }

    private func length(of source: Source) -> Int { elements[source]?.count ?? 0 }

    private mutating func removeLast(of source: Source) -> Element? {
        guard let element = elements[source]?.popLast() else { return nil }
        count -= 1
        if length(of: source) == 0 {
            elements[source] = nil
            turns.removeAll { $0 == source }
        }
        return element
    }
}
