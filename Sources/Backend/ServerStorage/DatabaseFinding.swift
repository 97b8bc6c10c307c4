/// One result of `realm-server check --connect`.
package struct DatabaseFinding: Hashable, Sendable, CustomStringConvertible {
    package enum Level: Hashable, Sendable {
        case good
        /// The server runs, but not as it should.
        case warning
        /// The server does not run.
        case problem
    }

    package let level: Level
    /// Its subject, in one word.
    package let subject: String
    /// The fact, and the remedy of one that is not good.
    package let text: String

    init(_ level: Level, _ subject: String, _ text: String, remedy: String? = nil) {
        self.level = level
        self.subject = subject
        self.text = remedy.map { "\(text); \($0)" } ?? text
    }

    package var description: String {
        let word =
            switch level {
            case .good: "ok     "
            case .warning: "warning"
            case .problem: "PROBLEM"
            }
        return "\(word)  \(subject)  \(text)"
    }
}
