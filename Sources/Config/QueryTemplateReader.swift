import Settings

/// Splits the text of a query into what stays as written and the strings that placeholders make.
///
/// A placeholder between quotes is a part of that string; elsewhere it is a string of its own. Strings
/// with escapes are decoded: the language itself knows none (flexible sync, 12.1).
struct QueryTemplateReader {
    private let bytes: [UInt8]
    private let reader: NodeReader
    private let templates: TemplateReader
    private var offset = 0
    private var template = QueryTemplate()
    /// The places in the result, with the id of a sample user, at which pieces of the text begin.
    private var pieces: [(result: Int, source: Int, isVerbatim: Bool)] = []
    private var isComplete = true

    /// The template with the way back from its text to the one that was read.
    struct Result {
        let template: QueryTemplate
        fileprivate let pieces: [(result: Int, source: Int, isVerbatim: Bool)]

        /// A user id for checks before there is one.
        static let sampleUser = "0123456789abcdef01234567"

        var sampleText: [UInt8] { template.text(userID: Self.sampleUser) }

        /// The byte of the text as read, for one of the sample text.
        func source(of offset: Int) -> Int {
            guard let piece = pieces.last(where: { $0.result <= offset }) else { return 0 }
            return piece.isVerbatim ? piece.source + offset - piece.result : piece.source
        }
    }

    init(_ text: String, at reader: NodeReader, _ templates: TemplateReader) {
        self.bytes = Array(text.utf8)
        self.reader = reader
        self.templates = templates
    }

    /// Nil, and reported, if something cannot be filled in.
    mutating func read() -> Result? {
        var start = 0
        while offset < bytes.count {
            let isQuote = bytes[offset] == UInt8(ascii: "\"") || bytes[offset] == UInt8(ascii: "'")
            guard isQuote || isPlaceholder(at: offset) else {
                offset += 1
                continue
            }
            let begin = offset
            let string = isQuote ? readString() : readPlaceholder()
            guard let string else { continue }
            keep(start..<begin)
            note(begin, isVerbatim: false)
            template.append(string: string)
            start = offset
        }
        keep(start..<bytes.count)
        return isComplete ? Result(template: template, pieces: pieces) : nil
    }

    private mutating func keep(_ range: Range<Int>) {
        guard !range.isEmpty else { return }
        note(range.lowerBound, isVerbatim: true)
        template.append(bytes[range])
    }

    private mutating func note(_ source: Int, isVerbatim: Bool) {
        pieces.append((template.text(userID: Result.sampleUser).count, source, isVerbatim))
    }

    private func isPlaceholder(at index: Int) -> Bool {
        bytes[index...].starts(with: "${".utf8)
    }

    /// The value of a placeholder; empty, and reported, if that is unknown.
    private mutating func readPlaceholder() -> UserTemplate {
        let start = offset
        let rest = bytes[offset...]
        let end = rest.firstIndex(of: UInt8(ascii: "}")).map { $0 + 1 } ?? rest.endIndex
        offset = end
        let text = String(decoding: bytes[start..<end], as: UTF8.self)
        if let known = templates.resolve(text, at: reader.inside(atByte: start)) { return known }
        isComplete = false
        return UserTemplate()
    }

    /// The content of a string with escapes or placeholders; nil if it can stay as written.
    private mutating func readString() -> UserTemplate? {
        let quote = bytes[offset]
        var string = UserTemplate()
        var literal: [UInt8] = []
        var mustDecode = false
        offset += 1
        func flush(_ literal: inout [UInt8], _ string: inout UserTemplate) {
            string.append(String(decoding: literal, as: UTF8.self))
            literal = []
        }
        while offset < bytes.count {
            let byte = bytes[offset]
            if byte == quote {
                offset += 1
                flush(&literal, &string)
                return mustDecode ? string : nil
            }
            if bytes[offset...].starts(with: "$${".utf8) {
                literal += Array("${".utf8)
                offset += 3
                mustDecode = true
            } else if isPlaceholder(at: offset) {
                flush(&literal, &string)
                string.append(readPlaceholder())
                mustDecode = true
            } else if byte == UInt8(ascii: "\\"), let escape = QueryEscape(bytes[offset...]) {
                literal += escape.bytes
                offset += escape.length
                mustDecode = true
            } else {
                literal.append(byte)
                offset += 1
            }
        }
        // Not closed: the parser reports it.
        return nil
    }
}

/// An escape in a string of a query.
private struct QueryEscape {
    let bytes: [UInt8]
    let length: Int

    init?(_ text: ArraySlice<UInt8>) {
        guard let kind = text.dropFirst().first else { return nil }
        let simple: [UInt8: UInt8] = [
            UInt8(ascii: "b"): 8, UInt8(ascii: "f"): 12, UInt8(ascii: "n"): 10,
            UInt8(ascii: "r"): 13, UInt8(ascii: "t"): 9, UInt8(ascii: "0"): 0,
        ]
        if let byte = simple[kind] {
            self.init(bytes: [byte], length: 2)
        } else if "\"'/\\".utf8.contains(kind) {
            self.init(bytes: [kind], length: 2)
        } else if kind == UInt8(ascii: "u"), text.count >= 6,
            let code = UInt16(
                String(decoding: text.dropFirst(2).prefix(4), as: UTF8.self),
                radix: 16
            )
        {
            self.init(code, behind: text.dropFirst(6))
        } else {
            return nil
        }
    }

    /// A unit of UTF-16, with the one behind it if the two make one character.
    private init?(_ unit: UInt16, behind rest: ArraySlice<UInt8>) {
        if let scalar = Unicode.Scalar(unit) {
            self.init(bytes: Array(String(scalar).utf8), length: 6)
            return
        }
        let next = rest.prefix(6)
        guard next.count == 6, next.starts(with: "\\u".utf8),
            let low = UInt16(String(decoding: next.dropFirst(2), as: UTF8.self), radix: 16)
        else { return nil }
        let text = String(decoding: [unit, low], as: UTF16.self)
        guard !text.unicodeScalars.contains("\u{fffd}") else { return nil }
        self.init(bytes: Array(text.utf8), length: 12)
    }

    private init(bytes: [UInt8], length: Int) {
        self.bytes = bytes
        self.length = length
    }
}
