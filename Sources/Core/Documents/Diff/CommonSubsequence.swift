/// The longest common subsequence of two lists, by Myers's algorithm.
enum CommonSubsequence {
    /// Lists that differ by more than this are compared by position.
    static let differenceLimit = 1000

    /// Pairs of the positions of equal elements, ascending on both sides.
    static func find(
        _ old: ArraySlice<Value>,
        _ new: ArraySlice<Value>
    ) -> [(Int, Int)] {
        guard !old.isEmpty, !new.isEmpty else { return [] }
        // Elements are compared many times, so numbers replace them.
        var numbers: [Value: Int] = [:]
        func number(_ value: Value) -> Int {
            if let known = numbers[value] { return known }
            numbers[value] = numbers.count
            return numbers.count - 1
        }
        let (oldNumbers, newNumbers) = (old.map(number), new.map(number))
        let matches =
            search(oldNumbers, newNumbers) ?? byPlace(oldNumbers, newNumbers)
        return matches.map { ($0.0 + old.startIndex, $0.1 + new.startIndex) }
    }

    private static func byPlace(_ old: [Int], _ new: [Int]) -> [(Int, Int)] {
        (0..<min(old.count, new.count)).filter { old[$0] == new[$0] }.map { ($0, $0) }
    }

    /// Nil if the lists differ by more than the limit.
    private static func search(_ old: [Int], _ new: [Int]) -> [(Int, Int)]? {
        // furthest[k + limit] is how far into `old` the diagonal k has been followed.
        let limit = min(differenceLimit, old.count + new.count)
        var furthest = Array(repeating: 0, count: 2 * limit + 3)
        var history: [[Int]] = []
        for differences in 0...limit {
            history.append(Array(furthest[(limit + 1 - differences)...(limit + 1 + differences)]))
            for diagonal in stride(from: -differences, through: differences, by: 2) {
                let center = diagonal + limit + 1
                let isInsertion =
                    diagonal == -differences
                    || diagonal != differences && furthest[center - 1] < furthest[center + 1]
                var x = isInsertion ? furthest[center + 1] : furthest[center - 1] + 1
                while x < old.count, x - diagonal < new.count, old[x] == new[x - diagonal] {
                    x += 1
                }
                furthest[center] = x
                if x >= old.count, x - diagonal >= new.count {
                    return trace(history, old.count, new.count)
                }
            }
        }
        return nil
    }

    /// Walks back from the end, one difference at a time.
    private static func trace(
        _ history: [[Int]],
        _ oldCount: Int,
        _ newCount: Int
    ) -> [(Int, Int)] {
        var matches: [(Int, Int)] = []
        var (x, y) = (oldCount, newCount)
        for differences in stride(from: history.count - 1, through: 0, by: -1) {
            let (previousX, previousY) = origin(x - y, differences, history[differences])
            while x > max(previousX, 0), y > max(previousY, 0), x > 0, y > 0 {
                matches.append((x - 1, y - 1))
                x -= 1
                y -= 1
            }
            (x, y) = (previousX, previousY)
        }
        return matches.reversed()
    }

    /// The origin of the step to a diagonal, before the run of equal elements that ends it.
    private static func origin(
        _ diagonal: Int,
        _ differences: Int,
        _ furthest: [Int]
    ) -> (Int, Int) {
        guard differences > 0 else { return (0, 0) }
        // The slice holds the diagonals -differences ... differences.
        func reach(_ diagonal: Int) -> Int { furthest[diagonal + differences] }
        let isInsertion =
            diagonal == -differences
            || diagonal != differences && reach(diagonal - 1) < reach(diagonal + 1)
        let previous = isInsertion ? diagonal + 1 : diagonal - 1
        return (reach(previous), reach(previous) - previous)
    }
}
