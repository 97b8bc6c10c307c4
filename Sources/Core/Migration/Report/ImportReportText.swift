import JSON

/// The findings of a run, for people and for programs.
package enum ImportReportText {
    /// A line for each finding, the most severe first.
    package static func lines(_ findings: ImportFindings) -> [String] {
        let order: [ImportFinding.Severity] = [.fatal, .error, .warning, .note]
        return order.flatMap { severity in
            findings.all.filter { $0.severity == severity }.map(\.description)
        }
    }

    /// One JSON document.
    package static func json(_ findings: ImportFindings, app: String?) -> [UInt8] {
        let members: [String: JSONValue] = [
            "app": app.map { .string($0) } ?? .null,
            "exit": .integer(Int64(findings.exitStatus)),
            "findings": .array(findings.all.map(\.json)),
        ]
        return (try? JSONValue.object(members).json()) ?? []
    }
}

extension ImportFinding {
    fileprivate var json: JSONValue {
        .object([
            "severity": .string(severity.word),
            "code": .string(code),
            "file": .string(file),
            "line": line.map { .integer(Int64($0)) } ?? .null,
            "place": .string(place),
            "problem": .string(problem),
            "remedy": .string(remedy),
        ])
    }
}
