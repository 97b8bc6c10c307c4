/// The samples of a text in the form of OpenMetrics, by name and labels. Lines that are not samples are
/// left out.
package struct MetricSamples: Hashable, Sendable {
    package struct Sample: Hashable, Sendable {
        package let name: String
        package let labels: [String: String]
        package let value: Double
    }

    package let all: [Sample]

    package init(_ text: String) {
        // As one `Character`, "\r\n" would hide an end of line.
        self.all = text.unicodeScalars.split(separator: "\n").compactMap { Self.sample($0) }
    }

    /// The sum of the samples of a name that have these labels.
    package func sum(_ name: String, _ labels: [String: String] = [:]) -> Double {
        matching(name, labels).reduce(0) { $0 + $1.value }
    }

    package func matching(_ name: String, _ labels: [String: String]) -> [Sample] {
        all.filter { sample in
            sample.name == name && labels.allSatisfy { sample.labels[$0.key] == $0.value }
        }
    }

    private typealias Line = Substring.UnicodeScalarView

    private static func sample(_ line: Line) -> Sample? {
        guard line.first != "#" else { return nil }
        let name = line.prefix { $0 != "{" && $0 != " " }
        var rest = line[name.endIndex...]
        var labels: [String: String] = [:]
        if rest.first == "{" {
            rest.removeFirst()
            while rest.first != "}" {
                guard let label = label(&rest), labels[label.name] == nil else { return nil }
                labels[label.name] = label.value
                if rest.first == "," { rest.removeFirst() }
            }
            rest.removeFirst()
        }
        guard rest.first == " " else { return nil }
        let text = rest.dropFirst().prefix { $0 != " " }
        guard let value = Double(String(text)), !name.isEmpty else { return nil }
        return Sample(name: String(name), labels: labels, value: value)
    }

    /// `name="value"`, where the value has `\\`, `\"` and `\n` as escapes.
    private static func label(_ rest: inout Line) -> (name: String, value: String)? {
        let name = rest.prefix { $0 != "=" }
        rest = rest[name.endIndex...]
        guard rest.popFirst() == "=", rest.popFirst() == "\"" else { return nil }
        var value = ""
        while let scalar = rest.popFirst() {
            switch scalar {
            case "\"":
                return (String(name), value)
            case "\\":
                guard let escaped = rest.popFirst() else { return nil }
                value.unicodeScalars.append(escaped == "n" ? "\n" : escaped)
            default:
                value.unicodeScalars.append(scalar)
            }
        }
        return nil
    }
}
