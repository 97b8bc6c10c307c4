/// A pattern of LIKE: `*` is any run of characters, `?` is one character (query as recorded, 36).
///
/// The runs between the stars are searched one after the other, each as early as possible, so
/// nothing is tried twice.
struct LikePattern {
    /// A character of the text or the pattern: a byte and its UTF-8 continuation bytes.
    typealias Unit = UInt64

    /// Nil for `?`.
    private let runs: [[Unit?]]

    init(_ pattern: [UInt8]) {
        runs = pattern.split(separator: UInt8(ascii: "*"), omittingEmptySubsequences: false).map {
            Self.units(of: $0).map { $0 == UInt64(UInt8(ascii: "?")) ? nil : $0 }
        }
    }

    func matches(_ text: [UInt8]) -> Bool {
        var rest = Self.units(of: text[...])[...]
        guard let first = runs.first, let last = runs.last, starts(rest, with: first) else {
            return false
        }
        rest = rest.dropFirst(first.count)
        if runs.count == 1 { return rest.isEmpty }
        guard rest.count >= last.count, starts(rest.suffix(last.count), with: last) else {
            return false
        }
        rest = rest.dropLast(last.count)
        for run in runs.dropFirst().dropLast() where !run.isEmpty {
            guard let start = position(of: run, in: rest) else { return false }
            rest = rest[(start + run.count)...]
        }
        return true
    }

    private static func units(of bytes: ArraySlice<UInt8>) -> [Unit] {
        var units: [Unit] = []
        units.reserveCapacity(bytes.count)
        for byte in bytes {
            // A unit ends after at most eight bytes.
            if byte & 0xc0 == 0x80, let last = units.last, last >> 56 == 0 {
                units[units.count - 1] = last << 8 | UInt64(byte)
            } else {
                units.append(UInt64(byte))
            }
        }
        return units
    }

    private func starts(_ text: ArraySlice<Unit>, with run: [Unit?]) -> Bool {
        guard text.count >= run.count else { return false }
        return zip(text, run).allSatisfy { $1 == nil || $0 == $1 }
    }

    private func position(of run: [Unit?], in text: ArraySlice<Unit>) -> Int? {
        guard run.count <= text.count else { return nil }
        let literal = run.compactMap(\.self)
        return literal.count == run.count
            ? UnitSearch.first(literal, in: text)
            : PatternSearch(run).first(in: text)
    }
}

/// Searches for a run that contains `?`: all positions at once, 64 to a machine word.
private struct PatternSearch {
    private let length: Int
    private let wordCount: Int
    /// For each unit of the run, its positions.
    private var places: [LikePattern.Unit: [UInt64]] = [:]
    /// The positions of `?`.
    private var anywhere: [UInt64]

    init(_ run: [LikePattern.Unit?]) {
        length = run.count
        wordCount = (run.count + 63) / 64
        anywhere = [UInt64](repeating: 0, count: wordCount)
        for (index, unit) in run.enumerated() where unit == nil {
            anywhere[index / 64] |= 1 << UInt64(index % 64)
        }
        for (index, unit) in run.enumerated() {
            guard let unit else { continue }
            places[unit, default: anywhere][index / 64] |= 1 << UInt64(index % 64)
        }
    }

    func first(in text: ArraySlice<LikePattern.Unit>) -> Int? {
        // Bit n: the last n + 1 units match the beginning of the run.
        var state = [UInt64](repeating: 0, count: wordCount)
        for index in text.indices {
            let mask = places[text[index]] ?? anywhere
            var carry: UInt64 = 1
            for word in 0..<wordCount {
                let next = state[word] >> 63
                state[word] = (state[word] << 1 | carry) & mask[word]
                carry = next
            }
            if state[wordCount - 1] >> UInt64((length - 1) % 64) & 1 == 1 {
                return index - length + 1
            }
        }
        return nil
    }
}
