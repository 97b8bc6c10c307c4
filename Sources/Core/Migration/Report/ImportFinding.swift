/// One line of a report: a thing that is not carried over exactly (moving an app, 1).
package struct ImportFinding: Hashable, Sendable {
    package enum Severity: Hashable, Sendable {
        /// Nothing is written.
        case fatal
        /// Something does not work as before.
        case error
        case warning
        case note

        /// The word in a report.
        package var word: String {
            switch self {
            case .fatal, .error: "error"
            case .warning: "warning"
            case .note: "note"
            }
        }
    }

    package var severity: Severity
    /// Stable; `docs/errors.md` lists the codes.
    package let code: String
    /// A path below the root of the export; empty for the export as a whole.
    package let file: String
    /// From 1; nil where the file as a whole is meant.
    package let line: Int?
    /// The class, property or JSON path.
    package let place: String
    package let problem: String
    package let remedy: String

    package init(
        _ severity: Severity,
        _ code: String,
        in file: String = "",
        line: Int? = nil,
        _ place: String,
        _ problem: String,
        remedy: String
    ) {
        self.severity = severity
        self.code = code
        self.file = file
        self.line = line
        self.place = place
        self.problem = problem
        self.remedy = remedy
    }
}

extension ImportFinding: CustomStringConvertible {
    /// `FILE:LINE: error: CODE: PLACE: PROBLEM; REMEDY`.
    package var description: String {
        let position = line.map { "\(file):\($0)" } ?? file
        let parts = [position, severity.word, code, place].filter { !$0.isEmpty }
        return parts.joined(separator: ": ") + ": \(problem); \(remedy)"
    }
}

/// Gathers findings of one run.
package struct ImportFindings: Sendable {
    package private(set) var all: [ImportFinding] = []

    package init() {}

    package mutating func add(_ finding: ImportFinding) {
        if !all.contains(finding) { all.append(finding) }
    }

    package mutating func add(_ findings: some Sequence<ImportFinding>) {
        for finding in findings { add(finding) }
    }

    package var isFatal: Bool { all.contains { $0.severity == .fatal } }

    /// 0, 1 or 2 (moving an app, 1).
    package var exitStatus: Int32 {
        isFatal ? 2 : all.contains { $0.severity == .error } ? 1 : 0
    }
}
