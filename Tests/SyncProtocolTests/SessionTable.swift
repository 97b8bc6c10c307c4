import Testing

/// A table of `ClientSessionTableTests`, read from its text.
struct SessionTable {
    struct Row {
        let label: String
        let state: ScriptedSession.State
        let stories: [ScriptedSession.Story]
        /// One for each event of the table.
        let cells: [String]
    }

    let events: [SessionEvent]
    let rows: [Row]

    init(_ text: String) throws {
        var lines = text.split(separator: "\n").map(Self.fields)
        events = try lines.removeFirst().dropFirst().map {
            try #require(SessionEvent(rawValue: $0), "\($0)")
        }
        let events = events
        rows = try lines.map { fields in
            try #require(fields.count == events.count + 1, "\(fields)")
            return try Self.row(fields[0], Array(fields.dropFirst()))
        }
    }

    private static func row(_ label: String, _ cells: [String]) throws -> Row {
        let words = label.split(separator: " ").map(String.init)
        let state = try #require(ScriptedSession.State(rawValue: words[0]), "\(label)")
        let possible = ScriptedSession.stories(leadingTo: state)
        let stories =
            switch words.dropFirst().first {
            case "new": possible.filter { $0 == .new }
            case "known": possible.filter { $0 == .known }
            case "busy": possible.filter { $0 == .storing || $0 == .integrating }
            default: possible
            }
        return Row(label: label, state: state, stories: stories, cells: cells)
    }

    /// The text between the bars; the last bar ends the line.
    private static func fields(_ line: Substring) -> [String] {
        line.split(separator: "|", omittingEmptySubsequences: false).dropLast()
            .map { $0.drop { $0 == " " } }
            .map { field in
                String(field.reversed().drop { $0 == " " }.reversed())
            }
    }
}
