import JSON

/// Writes YAML line by line; every text that is not a plain word is quoted.
struct ConfigurationText {
    private(set) var text = ""
    private var depth = 0

    mutating func line(_ line: String) {
        text += String(repeating: "  ", count: depth) + line + "\n"
    }

    mutating func section(_ key: String, _ body: (inout ConfigurationText) -> Void) {
        line("\(key):")
        depth += 1
        body(&self)
        depth -= 1
    }

    static func quoted(_ text: String) -> String {
        let isWord =
            text.unicodeScalars.first.map {
                $0.isASCII && ($0.properties.isAlphabetic || $0 == "_")
            }
            ?? false
        let isPlain =
            isWord
            && text.unicodeScalars.allSatisfy {
                $0.isASCII
                    && ($0.properties.isAlphabetic || $0.properties.numericType != nil
                        || $0 == "_" || $0 == "-" || $0 == ".")
            }
            && !["true", "false", "null", "yes", "no", "on", "off", "y", "n"]
                .contains(text.lowercased())
        return isPlain ? text : JSONString.quoted(text, .numericForYAML)
    }

    static func list(_ texts: some Sequence<String>) -> String {
        "[" + texts.map { quoted($0) }.joined(separator: ", ") + "]"
    }
}
