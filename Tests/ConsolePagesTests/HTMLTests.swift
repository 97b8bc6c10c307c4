import ConsolePages
import Testing

@Suite("Markup")
struct HTMLTests {
    @Test("Text of users cannot become markup")
    func escaping() {
        let name = "<script>alert('x')</script> & \"y\""
        let html: HTML = "<td title=\"\(name)\">\(name)</td>"
        let escaped = "&lt;script&gt;alert(&#39;x&#39;)&lt;/script&gt; &amp; &quot;y&quot;"
        #expect(html.markup == "<td title=\"\(escaped)\">\(escaped)</td>")
    }

    @Test(
        "Characters that are not visible or reverse others are shown as replaced",
        arguments: ["\u{202E}", "\u{2066}", "\u{200B}", "\u{0}", "\u{1B}", "\r", "\u{2028}"]
    )
    func deceptiveCharacters(character: String) {
        let html: HTML = "\("a\(character)b")"
        #expect(html.markup == "a\u{FFFD}b")
    }

    @Test("Markup within markup stays as it is")
    func nesting() {
        let rows: [HTML] = ["<li>1</li>", "<li>2</li>"]
        let html: HTML = "<ul>\(rows)\(rows.first)</ul>\(7)"
        #expect(html.markup == "<ul><li>1</li><li>2</li><li>1</li></ul>7")
    }
}
