import Changesets
import Schemas

/// Reads values as `DocumentEncoder` writes them. Everything else is nil, with the scanner where it was.
struct DocumentScanner {
    private let bytes: UnsafeBufferPointer<UInt8>
    var offset = 0

    private static let quote = UInt8(ascii: "\"")

    init(_ bytes: UnsafeBufferPointer<UInt8>) {
        self.bytes = bytes
    }

    var isAtEnd: Bool { offset == bytes.count }

    @inline(__always)
    mutating func skip(_ byte: UInt8) -> Bool {
        guard offset < bytes.count, bytes[offset] == byte else { return false }
        offset += 1
        return true
    }

    @inline(__always)
    mutating func skip(_ text: [UInt8]) -> Bool {
        guard text.count <= bytes.count - offset else { return false }
        for position in 0..<text.count where text[position] != bytes[offset + position] {
            return false
        }
        offset += text.count
        return true
    }

    @inline(__always)
    mutating func skip(_ text: StaticString) -> Bool {
        let count = text.utf8CodeUnitCount
        guard count <= bytes.count - offset else { return false }
        for position in 0..<count where text.utf8Start[position] != bytes[offset + position] {
            return false
        }
        offset += count
        return true
    }

    mutating func skipNull() -> Bool { skip("null") }

    /// A number or a plain string.
    mutating func skipKey() -> Bool { readInteger() != nil || readString() != nil }

    @inline(__always)
    mutating func readScalar(_ type: ScalarType) -> Scalar? {
        switch type {
        case .int: return readInteger().map { .int($0) }
        case .bool:
            if skip("true") { return .bool(true) }
            return skip("false") ? .bool(false) : nil
        case .string:
            guard let text = readString(), text.count <= FormatLimits.stringSizeInBytes else {
                return nil
            }
            return .string(Text(bytes: Array(text)))
        case .binary: return readBinary().map { .binary($0) }
        case .timestamp: return readTimestamp().map { .timestamp($0) }
        case .double: return readDouble().map { .double($0) }
        case .float, .decimal, .objectID, .uuid: return nil
        }
    }

    /// Up to eighteen digits, which cannot overflow; not one that continues as a fraction.
    mutating func readInteger() -> Int64? {
        var position = offset
        let isNegative = position < bytes.count && bytes[position] == UInt8(ascii: "-")
        if isNegative { position += 1 }
        let start = position
        var value: Int64 = 0
        while position < bytes.count, bytes[position].isASCIIDigit {
            value = value &* 10 &+ Int64(bytes[position] &- UInt8(ascii: "0"))
            position += 1
        }
        let digits = position - start
        guard 1...18 ~= digits, digits == 1 || bytes[start] != UInt8(ascii: "0"),
            position < bytes.count, !bytes[position].continuesNumber
        else { return nil }
        offset = position
        return isNegative ? -value : value
    }

    /// A string without escapes.
    mutating func readString() -> UnsafeBufferPointer<UInt8>? {
        guard offset < bytes.count, bytes[offset] == Self.quote else { return nil }
        let start = offset + 1
        var end = start
        var all: UInt8 = 0
        while end < bytes.count, bytes[end] != Self.quote {
            let byte = bytes[end]
            guard byte >= 0x20, byte != UInt8(ascii: "\\") else { return nil }
            all |= byte
            end += 1
        }
        guard end < bytes.count else { return nil }
        let text = UnsafeBufferPointer(rebasing: bytes[start..<end])
        guard all < 0x80 || UTF8Validation.isValid(Array(text)) else { return nil }
        offset = end + 1
        return text
    }

    mutating func readBinary() -> [UInt8]? {
        let start = offset
        guard let text = readString(), let value = Base64.decode(text),
            value.count <= FormatLimits.binarySizeInBytes
        else {
            offset = start
            return nil
        }
        return value
    }

    mutating func readTimestamp() -> Timestamp? {
        let start = offset
        guard let text = readString(), let value = TimestampText.parseWritten(text) else {
            offset = start
            return nil
        }
        return value
    }

    /// Digits with a point, or with an exponent.
    mutating func readDouble() -> DoubleBits? {
        var position = offset
        if position < bytes.count, bytes[position] == UInt8(ascii: "-") { position += 1 }
        let start = position
        var isFraction = false
        while position < bytes.count,
            bytes[position].isASCIIDigit || bytes[position] == UInt8(ascii: ".")
        {
            if bytes[position] == UInt8(ascii: ".") {
                guard !isFraction, position > start else { return nil }
                isFraction = true
            }
            position += 1
        }
        guard isFraction, position < bytes.count, !bytes[position].continuesNumber,
            bytes[position - 1].isASCIIDigit,
            bytes[start] != UInt8(ascii: "0") || bytes[start + 1] == UInt8(ascii: "."),
            let value = Double(String(decoding: bytes[offset..<position], as: UTF8.self)),
            value.isFinite
        else { return nil }
        offset = position
        return DoubleBits(value)
    }
}

extension UInt8 {
    fileprivate var continuesNumber: Bool {
        isASCIIDigit || self == UInt8(ascii: ".") || self | 0x20 == UInt8(ascii: "e")
    }
}
