import FoundationEssentials
import JSON
import Testing

@Suite("JSON strings")
struct JSONStringTests {
    private let controls = String(
        String.UnicodeScalarView((0..<0x20).compactMap(Unicode.Scalar.init))
    )

    @Test("Only what JSON requires is escaped, in the shortest form")
    func short() {
        #expect(JSONString.quoted("a\"b\\c/d\u{7f}é\u{2028}") == "\"a\\\"b\\\\c/d\u{7f}é\u{2028}\"")
        #expect(JSONString.quoted("\u{8}\t\n\u{c}\r\0\u{1f}") == #""\b\t\n\f\r\u0000\u001f""#)
    }

    @Test("Numeric escapes have four digits, and those for YAML cover what it does not allow")
    func numeric() {
        #expect(JSONString.quoted("\n\"\u{7f}", .numeric) == "\"\\u000a\\\"\u{7f}\"")
        #expect(
            JSONString.quoted("\n\u{7f}\u{9f}\u{a0}\u{2028}\u{2029}", .numericForYAML)
                == "\"\\u000a\\u007f\\u009f\u{a0}\\u2028\\u2029\""
        )
    }

    @Test("A JSON reader reads every text back, with all kinds of escapes")
    func roundTrip() throws {
        let text = controls + "\"\\/ é\u{7f}\u{80}\u{9f}\u{2028}\u{2029}\u{1f600}"
        for escapes in [JSONString.Escapes.short, .numeric, .numericForYAML] {
            let json = Data(JSONString.quoted(text, escapes).utf8)
            #expect(try JSONDecoder().decode(String.self, from: json) == text)
        }
    }

    @Test("Bytes are quoted as their text is")
    func bytes() {
        for text in ["", "plain", controls, "\"é\\\u{2028}"] {
            var bytes = Array("x".utf8)
            JSONString.append(Array(text.utf8), to: &bytes)
            #expect(String(decoding: bytes, as: UTF8.self) == "x" + JSONString.quoted(text))
        }
    }
}
