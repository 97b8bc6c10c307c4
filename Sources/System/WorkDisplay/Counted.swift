/// A number with its noun, such as `1 row` and `2 rows`.
package struct Counted: CustomStringConvertible {
    private let count: Int
    private let noun: String

    /// - Parameter noun: for one; its plural must end in `s` or, after `s`, in `es`.
    package init(_ count: Int, _ noun: String) {
        self.count = count
        self.noun = noun
    }

    package var description: String {
        guard count != 1 else { return "1 \(noun)" }
        return "\(count) \(noun)\(noun.hasSuffix("s") ? "es" : "s")"
    }
}
