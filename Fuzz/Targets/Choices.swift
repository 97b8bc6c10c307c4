/// Reads an input as a row of choices, so that inputs have a form that readers accept. At its end all choices are 0.
struct Choices {
    private var rest: ArraySlice<UInt8>

    init(_ bytes: [UInt8]) {
        self.rest = bytes[...]
    }

    var isEmpty: Bool { rest.isEmpty }

    mutating func byte() -> UInt8 { rest.popFirst() ?? 0 }

    /// Up to 255 bytes, behind their number.
    mutating func bytes() -> [UInt8] {
        let count = min(Int(byte()), rest.count)
        defer { rest = rest.dropFirst(count) }
        return Array(rest.prefix(count))
    }

    /// Everything that is left.
    mutating func remaining() -> [UInt8] {
        defer { rest = [] }
        return Array(rest)
    }

    mutating func element<Element>(of elements: [Element]) -> Element {
        elements[Int(byte()) % elements.count]
    }

    /// A small number, one from the edge of a range, or any.
    mutating func integer() -> Int64 {
        let choice = byte()
        switch choice {
        case 0..<200: return Int64(choice) - 4
        case 200..<250: return Self.extremes[Int(choice) % Self.extremes.count]
        default:
            return Int64(
                bitPattern: (0..<8).reduce(UInt64(0)) { number, _ in number << 8 | UInt64(byte()) }
            )
        }
    }

    private static let extremes: [Int64] = [
        .min, .min + 1, .max, .max - 1, 1 << 31, -(1 << 31), 1 << 32, 1 << 53, 1 << 62,
        1_420_070_400_000, 1_420_070_399_999, 1_772_600_767_000, -62_135_596_800_000,
        253_402_300_800_000, 9_223_372_036_854,
    ]
}
