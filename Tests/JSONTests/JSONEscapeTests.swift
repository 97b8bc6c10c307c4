import JSON
import Testing

@Suite("Escapes of JSON strings")
struct JSONEscapeTests {
    private func read(_ text: String) -> (problem: JSONEscape.Problem?, text: String, end: Int?) {
        var content: [UInt8] = []
        var end: Int?
        var problem: JSONEscape.Problem?
        do throws(JSONEscape.Problem) {
            end = try Array(text.utf8).withUnsafeBufferPointer {
                bytes throws(JSONEscape.Problem) in
                try JSONEscape.read(bytes, at: 0, into: &content)
            }
        } catch {
            problem = error
        }
        return (problem, String(decoding: content, as: UTF8.self), end)
    }

    @Test(
        "Each escape is its character, and the text behind it stays",
        arguments: [
            (#"\"x"#, "\""), (#"\\x"#, "\\"), (#"\/x"#, "/"), (#"\bx"#, "\u{8}"),
            (#"\fx"#, "\u{c}"), (#"\nx"#, "\n"), (#"\rx"#, "\r"), (#"\tx"#, "\t"),
            (#"\u0041x"#, "A"), (#"\u00E9x"#, "é"), (#"\u00e9x"#, "é"), (#"\u0000x"#, "\0"),
            (#"\ud83d\ude00x"#, "\u{1f600}"), (#"\uDBFF\uDFFFx"#, "\u{10ffff}"),
        ]
    )
    func characters(escape: String, expected: String) {
        let result = read(escape)
        #expect(result.problem == nil)
        #expect(result.text == expected)
        #expect(result.end == escape.utf8.count - 1)
    }

    @Test(
        "Anything else is a problem",
        arguments: [
            (#"\"#, JSONEscape.Problem.truncated(at: 1)), (#"\x"#, .unknown),
            (#"\u12"#, .truncated(at: 2)), (#"\u12g4"#, .unknown), (#"\u+123"#, .unknown),
            (#"\ud800"#, .unpairedSurrogate), (#"\ud800x"#, .unpairedSurrogate),
            (#"\ud800\n"#, .unpairedSurrogate), (#"\udc00\ud800"#, .unpairedSurrogate),
            (#"\ud800\u0041"#, .unpairedSurrogate), (#"\ud800\u12"#, .truncated(at: 8)),
        ]
    )
    func problems(escape: String, expected: JSONEscape.Problem) {
        #expect(read(escape).problem == expected)
    }
}
