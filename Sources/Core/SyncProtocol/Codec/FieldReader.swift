/// Reads the decimal fields of a message head, or of the headers inside a body (wire protocol, 3).
///
/// Each field is read together with the one byte that must follow it.
struct FieldReader {
    /// The grammar that the bytes belong to; it decides the error code.
    enum Part {
        case head, entry
    }

    enum End: UInt8 {
        case space = 0x20
        case newline = 0x0a
    }

    let bytes: [UInt8]
    private let part: Part
    private(set) var offset = 0

    init(_ bytes: [UInt8], part: Part) {
        self.bytes = bytes
        self.part = part
    }

    var isAtEnd: Bool { offset == bytes.count }
    var remaining: Int { bytes.count - offset }

    /// The message's name and the space after it.
    mutating func readName<Name: RawRepresentable<String>>() throws(WireError) -> Name {
        let token = bytes.prefix(Self.longestNameInBytes).prefix {
            UInt8(ascii: "a")...UInt8(ascii: "z") ~= $0 || $0 == UInt8(ascii: "_")
        }
        guard !token.isEmpty else { throw error(.malformed(field: "message name"), at: 0) }
        let text = String(decoding: token, as: UTF8.self)
        guard let name = Name(rawValue: text) else {
            throw WireError(at: 0, .unknownMessage(name: text))
        }
        offset = token.count
        try readEnd(.space, after: text)
        return name
    }

    mutating func readNumber(
        _ field: String,
        in range: ClosedRange<UInt64> = WireRange.any,
        endingWith end: End = .space
    ) throws(WireError) -> UInt64 {
        let start = offset
        let digits = readToken()
        guard !digits.isEmpty, digits.allSatisfy(Self.isDigit) else {
            throw error(.malformed(field: field), at: start)
        }
        var value: UInt64 = 0
        for digit in digits {
            let (tens, overflow) = value.multipliedReportingOverflow(by: 10)
            let (sum, carry) = tens.addingReportingOverflow(UInt64(digit - UInt8(ascii: "0")))
            guard !overflow, !carry else { throw error(.outOfRange(field: field), at: start) }
            value = sum
        }
        guard range ~= value else { throw error(.outOfRange(field: field), at: start) }
        try readEnd(end, after: field)
        return value
    }

    /// A number that may be negative: error codes, of which any must be tolerated.
    mutating func readSigned(
        _ field: String,
        endingWith end: End = .space
    ) throws(WireError) -> Int {
        let start = offset
        let digits = readToken()
        guard let first = digits.first, Self.isDigit(first) || first == UInt8(ascii: "-"),
            digits.count > (Self.isDigit(first) ? 0 : 1),
            digits.dropFirst().allSatisfy(Self.isDigit)
        else { throw error(.malformed(field: field), at: start) }
        guard let value = Int(String(decoding: digits, as: UTF8.self)) else {
            throw error(.outOfRange(field: field), at: start)
        }
        try readEnd(end, after: field)
        return value
    }

    /// Any number but 0 is true.
    mutating func readFlag(
        _ field: String,
        endingWith end: End = .space
    ) throws(WireError) -> Bool {
        try readSigned(field, endingWith: end) != 0
    }

    mutating func readEstimate(_ field: String) throws(WireError) -> ProgressEstimate {
        let start = offset
        guard let value = ProgressEstimate(text: readToken()) else {
            throw error(.malformed(field: field), at: start)
        }
        try readEnd(.space, after: field)
        return value
    }

    mutating func readSession(endingWith end: End = .space) throws(WireError) -> SessionIdent {
        let start = offset
        guard let session = try readOptionalSession(endingWith: end) else {
            throw error(.outOfRange(field: "session ident"), at: start)
        }
        return session
    }

    /// Nil for the connection itself.
    mutating func readOptionalSession(
        endingWith end: End = .space
    ) throws(WireError) -> SessionIdent? {
        SessionIdent(try readNumber("session ident", endingWith: end))
    }

    mutating func readRequest(_ end: End) throws(WireError) -> RequestIdent {
        RequestIdent(
            try readNumber("request ident", in: WireRange.request, endingWith: end)
        )
    }

    /// Refuses a message whose number of fields is that of the other mode.
    func expectForm(
        of message: String,
        in mode: SyncMode,
        fields: [SyncMode: Int]
    ) throws(WireError) {
        let count = bytes.prefix { $0 != End.newline.rawValue }
            .count { $0 == End.space.rawValue }
        guard fields.allSatisfy({ $0.key == mode || $0.value != count }) else {
            throw WireError(at: 0, .otherMode(message: message, expected: mode))
        }
    }

    /// The next bytes unchanged; the caller has checked the count against `remaining`.
    mutating func readBytes(_ count: Int) -> [UInt8] {
        precondition(count <= remaining, "the caller checks the size of what it reads")
        defer { offset += count }
        return Array(bytes[offset..<offset + count])
    }

    /// The rest as text; it must have exactly the announced size.
    mutating func readBody(announced: UInt64) throws(WireError) -> [UInt8] {
        guard announced == UInt64(remaining) else {
            throw WireError(at: offset, .bodySize(announced: announced, actual: remaining))
        }
        return readBytes(remaining)
    }

    /// A head without a body ends the message.
    func expectEnd() throws(WireError) {
        guard isAtEnd else {
            throw WireError(at: offset, .bodySize(announced: 0, actual: remaining))
        }
    }

    func error(_ problem: WireError.FieldProblem, at offset: Int) -> WireError {
        WireError(at: offset, part == .head ? .head(problem) : .entry(problem))
    }

    /// Bytes up to the next separator, which is not consumed.
    private mutating func readToken() -> ArraySlice<UInt8> {
        let token = bytes[offset...].prefix(Self.longestFieldInBytes).prefix {
            $0 != End.space.rawValue && $0 != End.newline.rawValue
        }
        offset += token.count
        return token
    }

    private mutating func readEnd(_ end: End, after field: String) throws(WireError) {
        guard offset < bytes.count, bytes[offset] == end.rawValue else {
            throw error(.separator(after: field), at: offset)
        }
        offset += 1
    }

    private static func isDigit(_ byte: UInt8) -> Bool {
        UInt8(ascii: "0")...UInt8(ascii: "9") ~= byte
    }

    private static let longestNameInBytes = 32
    private static let longestFieldInBytes = 64
}
