/// Durations as people write them: `20ms`, `30s`, `5m`, `2h`, `7d`, and sums such as `1h30m`.
package enum DurationText {
    private static let units: [(name: String, milliseconds: Int64)] = [
        ("d", 86_400_000), ("h", 3_600_000), ("m", 60_000), ("s", 1_000), ("ms", 1),
    ]

    /// The syntax of `parse`, as a regular expression.
    package static let pattern =
        "^([0-9]+d)?([0-9]+h)?([0-9]+m)?([0-9]+s)?([0-9]+ms)?$"

    /// Nil unless the text is whole numbers, each with a unit, the larger units first.
    package static func parse(_ text: some StringProtocol) -> Duration? {
        var rest = text[...]
        var remainingUnits = units[...]
        var total: Int64 = 0
        repeat {
            let digits = rest.prefix { $0.isASCII && $0.isNumber }
            rest = rest.dropFirst(digits.count)
            let name = rest.prefix { $0.isLetter }
            rest = rest.dropFirst(name.count)
            guard let count = Int64(digits),
                let unit = remainingUnits.firstIndex(where: { $0.name == name })
            else { return nil }
            let (product, isTooLarge) = count.multipliedReportingOverflow(
                by: units[unit].milliseconds
            )
            let (sum, isSumTooLarge) = total.addingReportingOverflow(product)
            guard !isTooLarge, !isSumTooLarge else { return nil }
            total = sum
            remainingUnits = units[(unit + 1)...]
        } while !rest.isEmpty
        return .milliseconds(total)
    }

    /// The shortest text that `parse` reads as the duration, in whole milliseconds.
    package static func text(of duration: Duration) -> String {
        let (seconds, attoseconds) = duration.components
        var milliseconds = seconds * 1_000 + attoseconds / 1_000_000_000_000_000
        var text = ""
        for unit in units where milliseconds >= unit.milliseconds {
            text += "\(milliseconds / unit.milliseconds)\(unit.name)"
            milliseconds %= unit.milliseconds
        }
        return text.isEmpty ? "0s" : text
    }
}
