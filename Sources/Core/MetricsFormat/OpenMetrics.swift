/// Writes metrics in the text form of OpenMetrics 1.0.
package struct OpenMetrics {
    private var lines: [String] = []

    private static let units = ["seconds", "bytes"]

    package static let contentType = "application/openmetrics-text; version=1.0.0; charset=utf-8"

    package init() {}

    /// One value with its labels.
    package struct Sample: Sendable {
        let labels: [(name: String, value: String)]
        let value: Double

        package init(_ labels: [(name: String, value: String)], _ value: Double) {
            self.labels = labels
            self.value = value
        }
    }

    /// A number that goes up and down.
    package mutating func gauge(_ name: String, _ help: String, _ samples: [Sample]) {
        describe(name, "gauge", help)
        for sample in samples { write(name, sample) }
    }

    /// A number that only grows; its samples' names end in `_total`.
    package mutating func counter(_ name: String, _ help: String, _ samples: [Sample]) {
        describe(name, "counter", help)
        for sample in samples { write("\(name)_total", sample) }
    }

    package mutating func histogram(
        _ name: String,
        _ help: String,
        _ series: [(labels: [(name: String, value: String)], histogram: Histogram)]
    ) {
        describe(name, "histogram", help)
        for (labels, histogram) in series {
            for (bound, count) in histogram.buckets {
                let label = (name: "le", value: bound.map { "\($0)" } ?? "+Inf")
                write("\(name)_bucket", Sample(labels + [label], Double(count)))
            }
            write("\(name)_sum", Sample(labels, histogram.sum))
            write("\(name)_count", Sample(labels, Double(histogram.count)))
        }
    }

    package var text: String {
        (lines + ["# EOF"]).joined(separator: "\n") + "\n"
    }

    /// A family whose name ends in one of the base units says so.
    private mutating func describe(_ name: String, _ type: String, _ help: String) {
        lines.append("# TYPE \(name) \(type)")
        if let unit = Self.units.first(where: { name.hasSuffix("_\($0)") }) {
            lines.append("# UNIT \(name) \(unit)")
        }
        lines.append("# HELP \(name) \(Self.escaped(help))")
    }

    private mutating func write(_ name: String, _ sample: Sample) {
        let labels = sample.labels.map { "\($0.name)=\"\(Self.escaped($0.value))\"" }
            .joined(separator: ",")
        let value = Self.text(of: sample.value)
        lines.append("\(name)\(labels.isEmpty ? "" : "{\(labels)}") \(value)")
    }

    private static func text(of value: Double) -> String {
        if value.isNaN { return "NaN" }
        if value.isInfinite { return value > 0 ? "+Inf" : "-Inf" }
        return value == value.rounded() && value.magnitude < 1e15 ? "\(Int64(value))" : "\(value)"
    }

    private static func escaped(_ text: String) -> String {
        text.replacing("\\", with: "\\\\").replacing("\"", with: "\\\"")
            .replacing("\n", with: "\\n")
    }
}
