import Changesets
import JSON

/// Reads JSON text strictly, one value at a time, for a caller that knows what to expect.
///
/// Numbers keep their spelling and strings their bytes, which general JSON libraries convert.
/// Nesting is limited, and every error has an offset.
struct JSONReader {
    private let bytes: UnsafeBufferPointer<UInt8>
    private(set) var offset = 0
    private var depth = 0

    /// No document of this project comes near: collections in Mixed end at 100 levels, paths into
    /// embedded objects at 500 steps.
    static let depthLimit = 600

    init(_ bytes: UnsafeBufferPointer<UInt8>) {
        self.bytes = bytes
    }

    /// Begins in the middle of a text, with so many objects and arrays around it.
    init(_ bytes: UnsafeBufferPointer<UInt8>, at offset: Int, depth: Int) {
        self.bytes = bytes
        self.offset = offset
        self.depth = depth
    }

    enum Kind: Hashable {
        case null, bool, number, string, array, object
    }

    /// The kind of the next value.
    mutating func peek() throws(FormError) -> Kind {
        skipSpace()
        guard offset < bytes.count else { throw error(.truncated) }
        switch bytes[offset] {
        case UInt8(ascii: "n"): return .null
        case UInt8(ascii: "t"), UInt8(ascii: "f"): return .bool
        case UInt8(ascii: "\""): return .string
        case UInt8(ascii: "["): return .array
        case UInt8(ascii: "{"): return .object
        case UInt8(ascii: "-"), UInt8(ascii: "0")...UInt8(ascii: "9"): return .number
        default: throw error(.unexpectedByte)
        }
    }

    /// Throws if anything but white space follows.
    mutating func finish() throws(FormError) {
        skipSpace()
        guard offset == bytes.count else { throw error(.trailingBytes) }
    }

    mutating func readNull() throws(FormError) {
        try expect("null")
    }

    mutating func readBool() throws(FormError) -> Bool {
        skipSpace()
        if offset < bytes.count, bytes[offset] == UInt8(ascii: "t") {
            try expect("true")
            return true
        }
        try expect("false")
        return false
    }

    /// Calls the body for each element with its position.
    mutating func readArray(
        _ body: (inout JSONReader, Int) throws(FormError) -> Void
    ) throws(FormError) {
        try enter(UInt8(ascii: "["))
        defer { depth -= 1 }
        if try skip(UInt8(ascii: "]")) { return }
        var position = 0
        repeat {
            try body(&self, position)
            position += 1
        } while try skip(UInt8(ascii: ","), orEnd: UInt8(ascii: "]"))
    }

    /// Calls the body for each member's name in the order of the text; equal names are repeated.
    mutating func readObject(
        _ body: (inout JSONReader, Text) throws(FormError) -> Void
    ) throws(FormError) {
        try enter(UInt8(ascii: "{"))
        defer { depth -= 1 }
        if try skip(UInt8(ascii: "}")) { return }
        repeat {
            let name = try readString()
            guard try skip(UInt8(ascii: ":")) else { throw error(.unexpectedByte) }
            try body(&self, Text(bytes: name))
        } while try skip(UInt8(ascii: ","), orEnd: UInt8(ascii: "}"))
    }
}

// MARK: Numbers

/// A number as spelled.
struct JSONNumber: Hashable {
    let text: String
    /// Neither point nor exponent.
    let isInteger: Bool
}

extension JSONReader {
    mutating func readNumber() throws(FormError) -> JSONNumber {
        skipSpace()
        let start = offset
        _ = skipByte(UInt8(ascii: "-"))
        if skipByte(UInt8(ascii: "0")) {
            // Nothing may follow a leading zero.
        } else {
            try skipDigits()
        }
        var isInteger = true
        if skipByte(UInt8(ascii: ".")) {
            isInteger = false
            try skipDigits()
        }
        if skipByte(UInt8(ascii: "e")) || skipByte(UInt8(ascii: "E")) {
            isInteger = false
            if !skipByte(UInt8(ascii: "+")) { _ = skipByte(UInt8(ascii: "-")) }
            try skipDigits()
        }
        let text = String(decoding: bytes[start..<offset], as: UTF8.self)
        return JSONNumber(text: text, isInteger: isInteger)
    }

    private mutating func skipDigits() throws(FormError) {
        let start = offset
        while offset < bytes.count, bytes[offset].isASCIIDigit {
            offset += 1
        }
        guard offset > start else { throw error(.badNumber) }
    }
}

// MARK: Strings

extension JSONReader {
    /// The bytes of a string, checked to be UTF-8.
    mutating func readString() throws(FormError) -> [UInt8] {
        skipSpace()
        guard skipByte(UInt8(ascii: "\"")) else {
            throw error(offset < bytes.count ? .unexpectedByte : .truncated)
        }
        let start = offset
        var text: [UInt8] = []
        var copied = offset
        while offset < bytes.count {
            switch bytes[offset] {
            case UInt8(ascii: "\""):
                text.append(contentsOf: bytes[copied..<offset])
                offset += 1
                guard UTF8Validation.isValid(text) else {
                    throw FormError(.invalidJSON(.invalidUTF8, offset: start))
                }
                return text
            case UInt8(ascii: "\\"):
                text.append(contentsOf: bytes[copied..<offset])
                try readEscape(into: &text)
                copied = offset
            case 0..<0x20:
                throw error(.controlCharacter)
            default:
                offset += 1
            }
        }
        throw error(.truncated)
    }

    private mutating func readEscape(into text: inout [UInt8]) throws(FormError) {
        do throws(JSONEscape.Problem) {
            offset = try JSONEscape.read(bytes, at: offset, into: &text)
        } catch {
            switch error {
            case .truncated(let end):
                throw FormError(.invalidJSON(.truncated, offset: end))
            case .unknown: throw self.error(.badEscape)
            case .unpairedSurrogate: throw self.error(.unpairedSurrogate)
            }
        }
    }
}

// MARK: Structure

extension JSONReader {
    private func error(_ problem: JSONProblem) -> FormError {
        FormError(.invalidJSON(problem, offset: offset))
    }

    private mutating func skipSpace() {
        while offset < bytes.count {
            switch bytes[offset] {
            case 0x20, 0x09, 0x0a, 0x0d: offset += 1
            default: return
            }
        }
    }

    private mutating func skipByte(_ byte: UInt8) -> Bool {
        guard offset < bytes.count, bytes[offset] == byte else { return false }
        offset += 1
        return true
    }

    private mutating func skip(_ byte: UInt8) throws(FormError) -> Bool {
        skipSpace()
        guard offset < bytes.count else { throw error(.truncated) }
        return skipByte(byte)
    }

    /// True for the separator, false for the end; throws on anything else.
    private mutating func skip(_ separator: UInt8, orEnd end: UInt8) throws(FormError) -> Bool {
        if try skip(separator) { return true }
        guard skipByte(end) else { throw error(.unexpectedByte) }
        return false
    }

    private mutating func enter(_ opening: UInt8) throws(FormError) {
        skipSpace()
        guard depth < Self.depthLimit else { throw error(.nestedTooDeeply) }
        guard try skip(opening) else { throw error(.unexpectedByte) }
        depth += 1
    }

    private mutating func expect(_ word: StaticString) throws(FormError) {
        skipSpace()
        let expected = UnsafeBufferPointer(start: word.utf8Start, count: word.utf8CodeUnitCount)
        guard bytes[offset...].starts(with: expected) else { throw error(.unexpectedByte) }
        offset += expected.count
    }
}

extension JSONReader {
    /// Reads one value that must be the whole text.
    static func read<Result>(
        _ json: [UInt8],
        _ body: (inout JSONReader) throws(FormError) -> Result
    ) throws(FormError) -> Result {
        try json.withUnsafeBufferPointer { (buffer) throws(FormError) -> Result in
            var reader = JSONReader(buffer)
            let result = try body(&reader)
            try reader.finish()
            return result
        }
    }
}
