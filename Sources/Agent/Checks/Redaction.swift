/// Removes secrets from texts that leave the machine: tokens, email addresses, and the values of
/// names such as `password`.
struct Redaction: Sendable {
    init() {}

    func redacted(_ text: String) -> String {
        text.split(separator: "\n", omittingEmptySubsequences: false)
            .map { line($0) }
            .joined(separator: "\n")
    }

    /// The search for secrets takes quadratic time in a line's length, and a file can hold long
    /// names.
    private static let longestLineInBytes = 16 << 10

    private func line(_ line: Substring) -> String {
        guard line.utf8.count <= Self.longestLineInBytes else {
            return "<a line of \(line.utf8.count) bytes>"
        }
        var text = String(line)
        text.replace(/:\/\/[^\/\s@]+@/, with: "://<redacted>@")
        text.replace(/[A-Za-z0-9._%+-]+@[A-Za-z0-9.-]+/, with: "<redacted>")
        // A token of three parts in base64.
        text.replace(/[A-Za-z0-9_-]{8,}\.[A-Za-z0-9_-]{8,}\.[A-Za-z0-9_-]{8,}/, with: "<redacted>")
        // A quoted value may contain spaces; an unquoted one ends at the next comma or line end.
        text.replace(Self.quoted) { "\($0.1)\"<redacted>\"" }
        text.replace(Self.unquoted) { "\($0.1)<redacted>" }
        return text
    }

    private static var quoted: Regex<(Substring, Substring)> {
        #/
        (?i)
        ((?:password|secret|token|api_?key|authorization|baas_at)[a-z0-9_\-]*"?\s*[:=]\s*)
        "(?:[^"\\]|\\.)*"?
        /#
    }

    private static var unquoted: Regex<(Substring, Substring)> {
        #/
        (?i)
        ((?:password|secret|token|api_?key|authorization|baas_at)[a-z0-9_\-]*"?\s*[:=]\s*)
        [^\s",\}\[\{][^",\}]*
        /#
    }
}
