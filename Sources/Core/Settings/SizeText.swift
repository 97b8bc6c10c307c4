/// Sizes in bytes as people write them: `512`, `64KiB`, `10MiB`, `1GB`.
package enum SizeText {
    private static let units: [(name: String, bytes: Int)] = [
        ("GiB", 1 << 30), ("GB", 1_000_000_000), ("MiB", 1 << 20), ("MB", 1_000_000),
        ("KiB", 1 << 10), ("kB", 1_000), ("B", 1), ("", 1),
    ]

    /// Nil unless the text is a whole number with one of the units, or without one for bytes.
    package static func parse(_ text: some StringProtocol) -> Int? {
        let digits = text.prefix { $0.isASCII && $0.isNumber }
        let name = text.dropFirst(digits.count).drop { $0 == " " }
        guard let count = Int(digits), let unit = units.first(where: { $0.name == name }) else {
            return nil
        }
        let (bytes, isTooLarge) = count.multipliedReportingOverflow(by: unit.bytes)
        return isTooLarge ? nil : bytes
    }

    /// The text with the largest unit that divides the size.
    package static func text(ofBytes bytes: Int) -> String {
        let binary = units.first {
            $0.name.hasSuffix("iB") && bytes > 0 && bytes.isMultiple(of: $0.bytes)
        }
        return binary.map { "\(bytes / $0.bytes)\($0.name)" } ?? "\(bytes)B"
    }
}
