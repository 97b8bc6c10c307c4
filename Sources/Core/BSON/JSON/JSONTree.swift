package import Changesets

/// JSON as its text has it: members in their order, numbers as they are spelled.
package indirect enum JSONTree: Hashable, Sendable {
    case null
    case bool(Bool)
    case number(String)
    case string(Text)
    case array([JSONTree])
    case object([Member])

    package struct Member: Hashable, Sendable {
        package let name: Text
        package let value: JSONTree

        package init(name: Text, value: JSONTree) {
            self.name = name
            self.value = value
        }
    }
}

extension JSONTree {
    package subscript(name: String) -> JSONTree? {
        guard case .object(let members) = self else { return nil }
        let name = Text(name)
        return members.first { $0.name == name }?.value
    }

    /// Nil unless it is a string of valid UTF-8.
    package var text: String? {
        guard case .string(let text) = self else { return nil }
        return text.string
    }

    package var bool: Bool? {
        guard case .bool(let value) = self else { return nil }
        return value
    }

    package var elements: [JSONTree]? {
        guard case .array(let elements) = self else { return nil }
        return elements
    }

    package var members: [Member]? {
        guard case .object(let members) = self else { return nil }
        return members
    }
}

/// The text is not JSON.
package struct JSONTreeError: Error, Hashable, Sendable {
    package let problem: Problem
    /// From the start of the text.
    package let offset: Int

    package enum Problem: Hashable, Sendable {
        case truncated
        case unexpectedByte
        case trailingBytes
        case badNumber
        case badEscape
        case unpairedSurrogate
        case controlCharacter
        case invalidUTF8
        case nestedTooDeeply
        case repeatedName(Text)
    }

    /// Line and column of the place, from 1, in the text.
    package func position(in text: some Sequence<UInt8>) -> (line: Int, column: Int) {
        var (line, column) = (1, 1)
        for byte in text.prefix(offset) {
            if byte == UInt8(ascii: "\n") {
                (line, column) = (line + 1, 1)
            } else if byte & 0xc0 != 0x80 {
                column += 1
            }
        }
        return (line, column)
    }
}

extension JSONTreeError: CustomStringConvertible {
    package var description: String {
        switch problem {
        case .truncated: "the text ends early"
        case .unexpectedByte: "a character that is not allowed here"
        case .trailingBytes: "the value has ended before"
        case .badNumber: "a number that JSON does not allow"
        case .badEscape: "an unknown escape sequence"
        case .unpairedSurrogate: "half of a surrogate pair"
        case .controlCharacter: "a control character that is not escaped"
        case .invalidUTF8: "a string that is not UTF-8"
        case .nestedTooDeeply: "more than \(BSONLimits.depth) levels are nested"
        case .repeatedName(let name): "the name \"\(name)\" twice in one object"
        }
    }
}
