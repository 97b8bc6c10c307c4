import YAML

/// Finds the place of a scalar's byte in the text of its file, so that a mistake inside a value is
/// reported where its author sees it: in quotes with escapes, and in blocks of several lines, too.
struct ScalarSource {
    private let source: [UInt8]
    private let style: YAMLScalar.Style
    private var offset = 0
    private var line = 1
    private var column = 1

    /// - Parameters:
    ///   - source: the whole file.
    ///   - start: of the node, which may begin with a tag or an anchor.
    init(_ source: [UInt8], style: YAMLScalar.Style, at start: TextLocation) {
        self.source = source
        self.style = style
        while offset < source.count, (line, column) < (start.line, start.column) { advance() }
        skipProperties()
        switch style {
        case .plain: break
        case .singleQuoted, .doubleQuoted: advance()
        case .literal, .folded: while let byte = current, byte != Self.lineFeed { advance() }
        }
    }

    /// The line and column of a byte of the scalar's text; that of its end, if the byte is behind it.
    mutating func place(of wanted: Int, in text: [UInt8]) -> (line: Int, column: Int) {
        var position = 0
        var isLineStart = style == .literal || style == .folded
        if isLineStart { skipBlanks() }
        while position < min(wanted, text.count), let byte = current {
            if style == .doubleQuoted, byte == UInt8(ascii: "\\") {
                position += skipEscape(next: text[position])
            } else if style == .singleQuoted, byte == UInt8(ascii: "'") {
                advance(by: 2)
                position += 1
            } else if byte == text[position] {
                advance()
                position += 1
                isLineStart = byte == Self.lineFeed
                if isLineStart, position < text.count, text[position] != Self.lineFeed {
                    skipBlanks()
                }
            } else if byte.isBlank {
                // Indentation, or a line break that counts as a space.
                let isBreak = text[position] == Self.space && byte == Self.lineFeed
                advance()
                if isBreak { position += 1 }
                if isBreak { skipBlanks() }
            } else {
                // A break at the end of a block's lines that the text does not have.
                position += 1
            }
        }
        // A value continues behind the indentation of its next line.
        if position < text.count, let byte = current, byte.isBlank, !text[position].isBlank {
            skipBlanks()
        }
        return (line, column)
    }

    // MARK: Steps

    private static let lineFeed = UInt8(ascii: "\n")
    private static let space = UInt8(ascii: " ")

    private var current: UInt8? { offset < source.count ? source[offset] : nil }

    private mutating func advance() {
        guard let byte = current else { return }
        offset += 1
        // Columns count characters: bytes in the middle of one do not.
        if byte == Self.lineFeed {
            (line, column) = (line + 1, 1)
        } else if current.map({ $0 & 0xc0 != 0x80 }) ?? true {
            column += 1
        }
    }

    private mutating func advance(by count: Int) {
        for _ in 0..<count { advance() }
    }

    private mutating func skipBlanks() {
        while let byte = current, byte.isBlank { advance() }
    }

    /// Tags and anchors in front of the value.
    private mutating func skipProperties() {
        while let byte = current, byte == UInt8(ascii: "!") || byte == UInt8(ascii: "&") {
            while let byte = current, !byte.isBlank { advance() }
            skipBlanks()
        }
    }

    /// Skips an escape in double quotes; returns the number of bytes that it has in the text.
    private mutating func skipEscape(next: UInt8) -> Int {
        advance()
        let kind = current
        advance()
        switch kind {
        case UInt8(ascii: "x"): advance(by: 2)
        case UInt8(ascii: "u"): advance(by: 4)
        case UInt8(ascii: "U"): advance(by: 8)
        case Self.lineFeed:
            skipBlanks()
            return 0
        default: break
        }
        return next.lengthOfCharacter
    }
}

extension UInt8 {
    fileprivate var isBlank: Bool { [0x20, 0x09, 0x0a, 0x0d].contains(self) }

    /// Of the UTF-8 character that begins with the byte.
    fileprivate var lengthOfCharacter: Int {
        switch self {
        case 0xc0...0xdf: 2
        case 0xe0...0xef: 3
        case 0xf0...0xff: 4
        default: 1
        }
    }
}

extension NodeReader {
    /// A reader of the same value that reports at one of its bytes.
    package func inside(atByte offset: Int) -> NodeReader {
        guard case .scalar(let scalar) = node.content,
            let source = diagnostics.source(of: node.location.file)
        else { return self }
        var position = ScalarSource(source, style: scalar.style, at: node.location)
        let place = position.place(of: offset, in: Array(scalar.text.utf8))
        let location = TextLocation(
            file: node.location.file,
            line: place.line,
            column: place.column
        )
        return NodeReader(
            YAMLNode(location: location, tag: node.tag, content: node.content),
            path: path,
            diagnostics: diagnostics
        )
    }
}
