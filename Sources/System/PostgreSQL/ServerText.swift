internal import CPostgres

/// Text that a server sent, before a person sees it.
enum ServerText {
    private static let limit = 300

    /// One line: control characters become blanks, and the end of a long text is cut off.
    static func line(_ text: String) -> String {
        var result = String.UnicodeScalarView()
        for scalar in text.unicodeScalars {
            guard result.count < limit else { break }
            let isControl = scalar.properties.generalCategory == .control
            if isControl || scalar == " " {
                if let last = result.last, last != " " { result.append(" ") }
            } else {
                result.append(scalar)
            }
        }
        if result.last == " " { result.removeLast() }
        return String(result)
    }

    /// The error of a connection that was not made, from libpq's text with verbose reports.
    ///
    /// libpq has no function for the code of such an error. The text holds it between the severity and
    /// the message: `FATAL:  28P01: password authentication failed`.
    static func connectionError(_ text: String, of host: String) -> PostgreSQLError {
        let lines = text.split(separator: "\n", omittingEmptySubsequences: true)
        for line in lines {
            guard let match = line.firstMatch(of: /:  ([0-9A-Z]{5}): (.*)/) else { continue }
            let state = String(match.1)
            return PostgreSQLError(
                .server(sqlState: state),
                "\(host): \(message(String(match.2), state: state))",
                connectionIsLost: true
            )
        }
        return PostgreSQLError(
            .unreachable,
            "\(host): \(lines.first.map(String.init) ?? "no text")"
        )
    }

    /// The server's message, unless reports with this code quote values.
    static func message(_ text: String, state: String) -> String {
        state.hasPrefix("22") ? "the server refused a value" : text
    }
}
