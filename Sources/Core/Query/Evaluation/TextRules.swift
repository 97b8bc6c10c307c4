/// BEGINSWITH, ENDSWITH, CONTAINS and LIKE, and equality that ignores case (flexible sync, 12.5; query as
/// recorded, 33 to 36).
enum TextRules {
    /// For values of any types; only text with text and binary data with binary data can match.
    static func holds(
        _ operation: ComparisonOperator,
        _ value: QueryValue,
        _ needle: QueryValue,
        ignoresCase: Bool
    ) -> Bool {
        switch operation {
        case .equal, .in: return areEqual(value, needle)
        case .notEqual: return !areEqual(value, needle)
        case .less, .lessOrEqual, .greater, .greaterOrEqual, .text: return false
        case .beginsWith, .endsWith, .contains, .like: break
        }
        if needle == .null {
            switch operation {
            case .contains: return value != .null
            case .like: return value == .null
            default: return false
            }
        }
        guard let (text, pattern) = pair(value, needle, ignoresCase) else { return false }
        switch operation {
        case .beginsWith: return text.starts(with: pattern)
        case .endsWith:
            return text.count >= pattern.count && text.suffix(pattern.count) == pattern[...]
        case .contains: return ByteSearch.contains(pattern, in: text)
        default: return LikePattern(pattern).matches(text)
        }
    }

    private static func areEqual(_ left: QueryValue, _ right: QueryValue) -> Bool {
        guard let (left, right) = pair(left, right, true) else {
            return MixedRules.areEqual(left, right)
        }
        return left == right
    }

    private static func pair(
        _ value: QueryValue,
        _ needle: QueryValue,
        _ ignoresCase: Bool
    ) -> ([UInt8], [UInt8])? {
        switch (value, needle) {
        case (.string(let text), .string(let needle)), (.binary(let text), .binary(let needle)):
            ignoresCase ? (CaseFolding.fold(text), CaseFolding.fold(needle)) : (text, needle)
        default: nil
        }
    }
}

/// The letters whose case the reference ignores on Linux: ASCII, and U+00C0 to U+00DE with U+00E0 to
/// U+00FE (query as recorded, 34).
enum CaseFolding {
    /// In lower case; the length does not change.
    static func fold(_ text: [UInt8]) -> [UInt8] {
        var folded = text
        for index in folded.indices {
            let byte = folded[index]
            if (0x41...0x5a).contains(byte) {
                folded[index] = byte + 0x20
            } else if (0x80...0x9e).contains(byte), index > 0, folded[index - 1] == 0xc3 {
                folded[index] = byte + 0x20
            }
        }
        return folded
    }
}

/// Finds bytes in bytes in linear time.
enum ByteSearch {
    static func contains(_ needle: [UInt8], in text: [UInt8]) -> Bool {
        UnitSearch.first(needle, in: text[...]) != nil
    }
}

/// Knuth, Morris and Pratt's search.
enum UnitSearch {
    /// The start of the needle's first occurrence, or nil.
    static func first<Unit: Equatable>(_ needle: [Unit], in text: ArraySlice<Unit>) -> Int? {
        guard !needle.isEmpty else { return text.startIndex }
        guard needle.count <= text.count else { return nil }
        // For each prefix of the needle, the length of its longest border.
        var borders = [0]
        borders.reserveCapacity(needle.count)
        var length = 0
        for index in needle.indices.dropFirst() {
            while length > 0, needle[index] != needle[length] { length = borders[length - 1] }
            if needle[index] == needle[length] { length += 1 }
            borders.append(length)
        }
        var matched = 0
        for index in text.indices {
            while matched > 0, text[index] != needle[matched] { matched = borders[matched - 1] }
            if text[index] == needle[matched] { matched += 1 }
            if matched == needle.count { return index - matched + 1 }
        }
        return nil
    }
}
