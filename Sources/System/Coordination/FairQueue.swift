/// Elements that wait for one server, in turns by whom they come from: one source that sends very many
/// delays the others by one element each, not by all of its own.
///
/// When it is full, the source that has most in it loses its latest element.
package struct FairQueue<Source: Hashable, Element> {
    package let capacity: Int

    private var elements: [Source: ArraySlice<Element>] = [:]
    /// Sources with elements, the next one to be served first.
    private var turns: ArraySlice<Source> = []
    package private(set) var count = 0

    package init(capacity: Int = .max) {
        self.capacity = capacity
    }

    /// Adds an element. Answers with the one that finds no room: this one, or another in its place.
    package mutating func append(_ element: Element, from source: Source) -> Element? {
        if elements[source] == nil { turns.append(source) }
        elements[source, default: []].append(element)
        count += 1
        guard count > capacity else { return nil }
        // The newcomer's source loses among equals: what was let in stays.
        var longest = source
        for other in turns where length(of: other) > length(of: longest) { longest = other }
        return removeLast(of: longest)
    }

    /// The next element, and its source goes to the end.
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
