import Changesets
import Testing

@testable import Documents

@Suite("Reading JSON")
struct JSONReaderTests {
    private func parse(_ text: String) throws(FormError) -> JSONNode {
        try JSONNode(parsing: Array(text.utf8))
    }

    @Test(
        "Values keep their spelling",
        arguments: [
            ("null", .null), ("true", .bool(true)), (" false ", .bool(false)),
            ("0", .number("0")), ("-0", .number("-0")), ("1.50", .number("1.50")),
            ("1e2", .number("1e2")), ("-1.0E+10", .number("-1.0E+10")),
            ("123456789012345678901234567890", .number("123456789012345678901234567890")),
            (#""""#, .string("")), ("[]", .array([])), ("{}", .object([:])),
            ("[1,\n\t[ ] , {}]", .array([.number("1"), .array([]), .object([:])])),
            (#"{"a":1,"":{"b":null}}"#, .object(["a": .number("1"), "": .object(["b": .null])])),
            (#"{"a":1,"b":2,"a":3}"#, .object(["a": .number("3"), "b": .number("2")])),
        ] as [(String, JSONNode)]
    )
    func values(text: String, node: JSONNode) throws {
        #expect(try parse(text) == node)
    }

    @Test(
        "Escapes are decoded",
        arguments: [
            (#""\"\\\/\b\f\n\r\t""#, "\"\\/\u{8}\u{c}\n\r\t"), (#""\u0041""#, "A"),
            (#""a\u0000b""#, "a\0b"), (#""\u00e9""#, "é"), (#""\u20AC""#, "€"),
            (#""\ud83d\ude42""#, "🙂"), (#""é🙂""#, "é🙂"), (#""\uFFFF""#, "\u{ffff}"),
            ("\"\u{7f}\u{2028}\"", "\u{7f}\u{2028}"),
        ]
    )
    func strings(text: String, value: String) throws {
        #expect(try parse(text) == .string(Text(value)))
    }

    @Test(
        "Invalid JSON is refused with its offset",
        arguments: [
            ("", .truncated, 0), (" ", .truncated, 1), ("nul", .unexpectedByte, 0),
            ("nulll", .trailingBytes, 4), ("True", .unexpectedByte, 0), ("NaN", .unexpectedByte, 0),
            ("1 2", .trailingBytes, 2), ("01", .trailingBytes, 1), ("-", .badNumber, 1),
            ("+1", .unexpectedByte, 0), (".5", .unexpectedByte, 0), ("1.", .badNumber, 2),
            ("1e", .badNumber, 2), ("1e+", .badNumber, 3), ("0x10", .trailingBytes, 1),
            ("[", .truncated, 1), ("[1", .truncated, 2), ("[1,]", .unexpectedByte, 3),
            ("[,1]", .unexpectedByte, 1), ("[1 2]", .unexpectedByte, 3), ("]", .unexpectedByte, 0),
            ("{", .truncated, 1), (#"{"a"}"#, .unexpectedByte, 4), ("{a:1}", .unexpectedByte, 1),
            (#"{"a":1,}"#, .unexpectedByte, 7), (#"{"a":}"#, .unexpectedByte, 5),
            (#"{"a" 1}"#, .unexpectedByte, 5), ("{1:2}", .unexpectedByte, 1),
            (#"""#, .truncated, 1), (#""\"#, .truncated, 2), (#""\x""#, .badEscape, 1),
            (#""\u12"#, .truncated, 3), (#""\u12g4""#, .badEscape, 1), ("'a'", .unexpectedByte, 0),
            ("\"a\nb\"", .controlCharacter, 2), ("\"\0\"", .controlCharacter, 1),
            (#""\ud83d""#, .unpairedSurrogate, 1), (#""\ude42""#, .unpairedSurrogate, 1),
            (#""\ud83dx""#, .unpairedSurrogate, 1), (#""\ud83d\u0041""#, .unpairedSurrogate, 1),
            ("// no\n1", .unexpectedByte, 0), ("\u{feff}1", .unexpectedByte, 0),
        ] as [(String, JSONProblem, Int)]
    )
    func refusals(text: String, problem: JSONProblem, offset: Int) {
        #expect(throws: FormError(.invalidJSON(problem, offset: offset))) { try parse(text) }
    }

    @Test("Strings that are not UTF-8 are refused")
    func invalidUTF8() {
        for bytes in [[0xff], [0xc3], [0xed, 0xa0, 0x80], [0xc0, 0x80], [0xf8, 0x88]] as [[UInt8]] {
            let quote = UInt8(ascii: "\"")
            #expect(throws: FormError(.invalidJSON(.invalidUTF8, offset: 1))) {
                try JSONNode(parsing: [quote] + bytes + [quote])
            }
        }
    }

    @Test("Nesting has a limit")
    func nesting() throws {
        func nested(_ depth: Int) -> String {
            String(repeating: "[", count: depth) + String(repeating: "]", count: depth)
        }
        _ = try parse(nested(JSONReader.depthLimit))
        #expect(
            throws: FormError(.invalidJSON(.nestedTooDeeply, offset: JSONReader.depthLimit))
        ) {
            try parse(nested(JSONReader.depthLimit + 1))
        }
        #expect(throws: FormError.self) { try parse(String(repeating: "[", count: 1_000_000)) }
    }

    @Test("Every prefix of a document gives a value or an error")
    func truncation() {
        let text = Array(#"{"a":[1.5e3,true,null,"\u00e9\n"],"b":{"":-0.1}}"#.utf8)
        for length in 0..<text.count {
            #expect(throws: FormError.self) { try JSONNode(parsing: Array(text[..<length])) }
        }
    }
}

@Suite("Base64")
struct Base64Tests {
    @Test(
        "The samples of RFC 4648",
        arguments: [
            ("", ""), ("f", "Zg=="), ("fo", "Zm8="), ("foo", "Zm9v"), ("foob", "Zm9vYg=="),
            ("fooba", "Zm9vYmE="), ("foobar", "Zm9vYmFy"),
        ]
    )
    func samples(plain: String, encoded: String) {
        #expect(Base64.encode(Array(plain.utf8)) == Array(encoded.utf8))
        #expect(Base64.decode(Array(encoded.utf8)) == Array(plain.utf8))
    }

    @Test("Every byte is kept")
    func everyByte() {
        for count in 0...3 {
            let bytes = [UInt8](repeating: 0xfb, count: count) + Array(0...255)
            #expect(Base64.decode(Base64.encode(bytes)) == bytes)
        }
    }

    @Test(
        "Anything else is refused",
        arguments: [
            "Z", "Zg", "Zg=", "Zg===", "=", "====", "Z===", "Zm9v=", "Zh==", "Zm9=", "Zm-v", "Zm 9",
            "Zg==Zg==", "Z=8=",
        ]
    )
    func refusals(text: String) {
        #expect(Base64.decode(Array(text.utf8)) == nil)
    }
}
