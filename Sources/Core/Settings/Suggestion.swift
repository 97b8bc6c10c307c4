/// Suggests what a person probably meant.
package enum Suggestion {
    /// The one candidate that is clearly nearest to the word, if any is near enough.
    package static func nearest(to word: String, among candidates: [String]) -> String? {
        let word = Array(word.lowercased().utf8)
        guard (1...64).contains(word.count) else { return nil }
        var best: (candidate: String, distance: Int)?
        for candidate in candidates {
            let distance = distance(word, Array(candidate.lowercased().utf8))
            let length = min(word.count, candidate.utf8.count)
            guard distance <= (length < 2 ? 0 : max(1, length / 3)),
                distance < best?.distance ?? .max
            else { continue }
            best = (candidate, distance)
        }
        return best?.candidate
    }

    /// A question if there is a near candidate, else the list of all.
    package static func remedy(for word: String, among candidates: [String]) -> String {
        if let nearest = nearest(to: word, among: candidates) {
            return "did you mean \"\(nearest)\"?"
        }
        return "use \(list(candidates))"
    }

    /// `a`, `a or b`, `a, b or c`.
    package static func list(_ words: [String]) -> String {
        guard let last = words.last, words.count > 1 else { return words.first ?? "nothing" }
        return words.dropLast().joined(separator: ", ") + " or " + last
    }

    /// Insertions, deletions, replacements and swaps of neighbours that turn one into the other.
    static func distance(_ first: [UInt8], _ second: [UInt8]) -> Int {
        var beforePrevious: [Int] = []
        var previous = Array(0...second.count)
        for (row, left) in first.enumerated() {
            var current = [row + 1]
            for (column, right) in second.enumerated() {
                var cost = min(
                    previous[column] + (left == right ? 0 : 1),
                    previous[column + 1] + 1,
                    current[column] + 1
                )
                if row > 0, column > 0, left == second[column - 1], first[row - 1] == right {
                    cost = min(cost, beforePrevious[column - 1] + 1)
                }
                current.append(cost)
            }
            (beforePrevious, previous) = (previous, current)
        }
        return previous[second.count]
    }
}
