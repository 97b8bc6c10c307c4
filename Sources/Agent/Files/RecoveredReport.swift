import FoundationEssentials
import LocalRealm

/// The result of reapplying discarded changes, as text and as JSON.
package struct RecoveredReport: Sendable {
    private var outcomes: [RecoveredOutcome] = []

    package init() {}

    mutating func add(_ more: [RecoveredOutcome]) {
        outcomes += more
    }

    /// Cells of a table, one row for each line.
    package static let header = ["OBJECT", "ACTION", "CHANGES", "CONFLICT"]

    package var rows: [[String]] {
        outcomes.map { outcome in
            [
                "\(outcome.className) \(outcome.key)", outcome.action.rawValue,
                Self.properties(of: outcome), outcome.conflict?.rawValue ?? "-",
            ]
        }
    }

    /// Explains the conflict words in the rows, one line each.
    package var meanings: [String] {
        let met = Set(outcomes.compactMap(\.conflict))
        return RecoveredOutcome.Conflict.allCases.filter(met.contains)
            .map { "\($0.rawValue): \($0.meaning)" }
    }

    /// One line for each conflict.
    package var conflicts: [String] {
        outcomes.compactMap { outcome in
            outcome.conflict.map { conflict in
                "line \(outcome.line): \(outcome.className) \(outcome.key): "
                    + "\(conflict.rawValue): \(conflict.meaning)"
            }
        }
    }

    private static func properties(of outcome: RecoveredOutcome) -> String {
        let texts = outcome.properties.map { property in
            let now = property.now.map { "\(shortened($0)) -> " } ?? ""
            return "\(property.name): \(now)\(shortened(property.then))"
        }
        return texts.isEmpty ? "-" : texts.joined(separator: ", ")
    }

    private static func shortened(_ json: [UInt8]) -> String {
        let text = String(decoding: json, as: UTF8.self)
        return text.count <= 40 ? text : "\(text.prefix(37))..."
    }

    // MARK: JSON

    package var json: String {
        "[\(outcomes.map(Self.json).joined(separator: ","))]"
    }

    private static func json(_ outcome: RecoveredOutcome) -> String {
        let conflict = outcome.conflict.map { quoted($0.rawValue) } ?? "null"
        let properties = outcome.properties.map { property in
            let now = property.now.map { String(decoding: $0, as: UTF8.self) } ?? "null"
            let then = String(decoding: property.then, as: UTF8.self)
            return #"{"name":\#(quoted(property.name)),"now":\#(now),"then":\#(then)}"#
        }
        return #"{"action":"\#(outcome.action.rawValue)","class":\#(quoted(outcome.className)),"#
            + #""conflict":\#(conflict),"key":\#(quoted(outcome.key)),"line":\#(outcome.line),"#
            + #""properties":[\#(properties.joined(separator: ","))]}"#
    }

    private static func quoted(_ text: String) -> String {
        let encoder = JSONEncoder()
        encoder.outputFormatting = .withoutEscapingSlashes
        return (try? encoder.encode(text)).map { String(decoding: $0, as: UTF8.self) } ?? "null"
    }
}
