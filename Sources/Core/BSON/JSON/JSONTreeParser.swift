import Changesets
import JSON

extension JSONTree {
    /// Reads one value that takes all of the text, which may begin with a byte order mark.
    package init(parsing bytes: [UInt8]) throws(JSONTreeError) {
        var parser = JSONTreeParser(bytes)
        self = try parser.value(depth: 0)
        parser.skipBlanks()
        guard parser.isAtEnd else { throw parser.error(.trailingBytes) }
    }
}

extension JSONTree {
    /// Reads values that follow each other, with or without line breaks between them.
    package static func sequence(parsing bytes: [UInt8]) throws(JSONTreeError) -> [JSONTree] {
        var parser = JSONTreeParser(bytes)
        var values: [JSONTree] = []
        parser.skipBlanks()
        while !parser.isAtEnd {
            values.append(try parser.value(depth: 0))
            parser.skipBlanks()
        }
        return values
    }
}

/// Reads JSON of bounded depth, in which no object has a name twice.
struct JSONTreeParser {
    private let bytes: [UInt8]
    private var offset = 0

    init(_ bytes: [UInt8]) {
        self.bytes = bytes
        if bytes.starts(with: [0xef, 0xbb, 0xbf]) { offset = 3 }
    }

    var isAtEnd: Bool { offset == bytes.count }

    func error(_ problem: JSONTreeError.Problem) -> JSONTreeError {
        JSONTreeError(problem: problem, offset: offset)
    }

    mutating func skipBlanks() {
        while offset < bytes.count {
            switch bytes[offset] {
            case 0x20, 0x09, 0x0a, 0x0d: offset += 1
            default: return
            }
        }
    }

    /// - Parameter depth: the arrays and objects around the value.
    mutating func value(depth: Int) throws(JSONTreeError) -> JSONTree {
        skipBlanks()
        guard offset < bytes.count else { throw error(.truncated) }
        switch bytes[offset] {
        case UInt8(ascii: "{"): return .object(try object(depth: depth))
        case UInt8(ascii: "["): return .array(try array(depth: depth))
        case UInt8(ascii: "\""): return .string(try string())
        case UInt8(ascii: "t"): return try word("true", .bool(true))
        case UInt8(ascii: "f"): return try word("false", .bool(false))
        case UInt8(ascii: "n"): return try word("null", .null)
        default: return .number(try number())
        }
    }

    private mutating func word(
        _ word: StaticString,
        _ value: JSONTree
    ) throws(JSONTreeError) -> JSONTree {
        let length = word.utf8CodeUnitCount
        let expected = UnsafeBufferPointer(start: word.utf8Start, count: length)
        guard bytes[offset...].starts(with: expected) else { throw error(.unexpectedByte) }
        offset += length
        return value
    }

    // MARK: Collections

    private mutating func enter(depth: Int) throws(JSONTreeError) {
        guard depth < BSONLimits.depth else { throw error(.nestedTooDeeply) }
        offset += 1
        skipBlanks()
    }

    /// After an element: true if another one follows, false if the collection ends.
    private mutating func continues(until end: UInt8) throws(JSONTreeError) -> Bool {
        skipBlanks()
        guard offset < bytes.count else { throw error(.truncated) }
        let byte = bytes[offset]
        guard byte == UInt8(ascii: ",") || byte == end else { throw error(.unexpectedByte) }
        offset += 1
        return byte != end
    }

    private mutating func skip(_ byte: UInt8) -> Bool {
        guard offset < bytes.count, bytes[offset] == byte else { return false }
        offset += 1
        return true
    }

    private mutating func array(depth: Int) throws(JSONTreeError) -> [JSONTree] {
        try enter(depth: depth)
        var elements: [JSONTree] = []
        guard !skip(UInt8(ascii: "]")) else { return elements }
        repeat {
            elements.append(try value(depth: depth + 1))
        } while try continues(until: UInt8(ascii: "]"))
        return elements
    }

    private mutating func object(depth: Int) throws(JSONTreeError) -> [JSONTree.Member] {
        try enter(depth: depth)
        var members: [JSONTree.Member] = []
        // Small objects are compared name by name, large ones by a set.
        var names: Set<Text>?
        guard !skip(UInt8(ascii: "}")) else { return members }
        repeat {
            skipBlanks()
            guard offset < bytes.count else { throw error(.truncated) }
            guard bytes[offset] == UInt8(ascii: "\"") else { throw error(.unexpectedByte) }
            let place = offset
            let name = try string()
            let isRepeated: Bool
            if names != nil {
                isRepeated = names?.insert(name).inserted == false
            } else {
                isRepeated = members.contains { $0.name == name }
                if members.count == 16 { names = Set(members.map(\.name)).union([name]) }
            }
            guard !isRepeated else {
                throw JSONTreeError(problem: .repeatedName(name), offset: place)
            }
            skipBlanks()
            guard skip(UInt8(ascii: ":")) else {
                throw error(isAtEnd ? .truncated : .unexpectedByte)
            }
            members.append(.init(name: name, value: try value(depth: depth + 1)))
        } while try continues(until: UInt8(ascii: "}"))
        return members
    }

    // MARK: Scalars

    private mutating func number() throws(JSONTreeError) -> String {
        let start = offset
        _ = skip(UInt8(ascii: "-"))
        guard offset < bytes.count, isDigit(bytes[offset]) else {
            throw error(offset == start ? .unexpectedByte : .badNumber)
        }
        if !skip(UInt8(ascii: "0")) { skipDigits() }
        if skip(UInt8(ascii: ".")) { try requireDigits() }
        if skip(UInt8(ascii: "e")) || skip(UInt8(ascii: "E")) {
            if !skip(UInt8(ascii: "+")) { _ = skip(UInt8(ascii: "-")) }
            try requireDigits()
        }
        if offset < bytes.count, isDigit(bytes[offset]) { throw error(.badNumber) }
        return String(decoding: bytes[start..<offset], as: UTF8.self)
    }

    private func isDigit(_ byte: UInt8) -> Bool { (0x30...0x39).contains(byte) }

    private mutating func skipDigits() {
        while offset < bytes.count, isDigit(bytes[offset]) { offset += 1 }
    }

    private mutating func requireDigits() throws(JSONTreeError) {
        let start = offset
        skipDigits()
        guard offset > start else { throw error(.badNumber) }
    }

    private mutating func string() throws(JSONTreeError) -> Text {
        let place = offset
        offset += 1
        var content: [UInt8] = []
        var start = offset
        var isASCII = true
        while true {
            guard offset < bytes.count else { throw error(.truncated) }
            let byte = bytes[offset]
            switch byte {
            case UInt8(ascii: "\""):
                content += bytes[start..<offset]
                offset += 1
                let text = Text(bytes: content)
                guard isASCII || text.isUTF8 else {
                    throw JSONTreeError(problem: .invalidUTF8, offset: place)
                }
                return text
            case UInt8(ascii: "\\"):
                content += bytes[start..<offset]
                try appendEscape(to: &content)
                isASCII = false
                start = offset
            case 0..<0x20: throw error(.controlCharacter)
            default:
                if byte >= 0x80 { isASCII = false }
                offset += 1
            }
        }
    }

    private mutating func appendEscape(to content: inout [UInt8]) throws(JSONTreeError) {
        let place = offset
        do throws(JSONEscape.Problem) {
            offset = try bytes.withUnsafeBufferPointer { bytes throws(JSONEscape.Problem) in
                try JSONEscape.read(bytes, at: place, into: &content)
            }
        } catch {
            switch error {
            case .truncated(let end): throw JSONTreeError(problem: .truncated, offset: end)
            case .unknown: throw JSONTreeError(problem: .badEscape, offset: place)
            case .unpairedSurrogate:
                throw JSONTreeError(problem: .unpairedSurrogate, offset: place)
            }
        }
    }
}
