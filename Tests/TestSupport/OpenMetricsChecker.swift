/// Reads a text as strictly as OpenMetrics 1.0 allows, and says what is wrong with it.
///
/// Covers what our writer may use: gauges, counters and histograms with units, without time stamps
/// and exemplars.
package struct OpenMetricsChecker {
    package private(set) var mistakes: [String] = []
    package private(set) var families: [String: String] = [:]
    package private(set) var samples: [String: Double] = [:]

    /// Families with a unit.
    private var units: Set<String> = []
    private var family = ""
    private var hasHelp = false
    private var hasSamples = false

    package init(_ text: String) {
        var lines = text.split(separator: "\n", omittingEmptySubsequences: false)
        if lines.popLast() != "" { mistakes.append("the text does not end with a line feed") }
        if lines.popLast() != "# EOF" { mistakes.append("the last line is not # EOF") }
        for line in lines { read(line) }
        checkHistograms()
        checkUnits()
    }

    private mutating func read(_ line: Substring) {
        if let match = line.wholeMatch(of: /# TYPE ([a-zA-Z_:][a-zA-Z0-9_:]*) (\w+)/) {
            begin(String(match.1), String(match.2))
        } else if let match = line.wholeMatch(of: /# HELP ([a-zA-Z_:][a-zA-Z0-9_:]*) (.+)/) {
            if match.1 != family || hasHelp || hasSamples { mistakes.append("misplaced: \(line)") }
            if match.2.wholeMatch(of: /(?:[^\\"]|\\\\|\\n|\\")*/) == nil {
                mistakes.append("not escaped: \(line)")
            }
            hasHelp = true
        } else if let match = line.wholeMatch(of: /# UNIT ([a-zA-Z_:][a-zA-Z0-9_:]*) (\w+)/) {
            let isInPlace = match.1 == family && !hasSamples
            if !isInPlace { mistakes.append("misplaced: \(line)") }
            if !match.1.hasSuffix("_\(match.2)") { mistakes.append("not its unit: \(line)") }
            units.insert(family)
        } else if line.hasPrefix("#") {
            mistakes.append("neither TYPE, UNIT, HELP nor EOF: \(line)")
        } else {
            readSample(line)
        }
    }

    private mutating func begin(_ name: String, _ type: String) {
        if !["gauge", "counter", "histogram"].contains(type) {
            mistakes.append("no type: \(type)")
        }
        if families.updateValue(type, forKey: name) != nil { mistakes.append("twice: \(name)") }
        if type == "counter", name.hasSuffix("_total") {
            mistakes.append("the name of a counter's family has no _total: \(name)")
        }
        (family, hasHelp, hasSamples) = (name, false, false)
    }

    private mutating func readSample(_ line: Substring) {
        let form =
            /([a-zA-Z_:][a-zA-Z0-9_:]*)(\{(?:[a-zA-Z_][a-zA-Z0-9_]*="(?:[^"\\\n]|\\\\|\\"|\\n)*"(?:,(?=[a-zA-Z_])|(?=\})))+\})? (\S+)/
        guard let match = line.wholeMatch(of: form), let value = Self.value(match.3) else {
            return mistakes.append("no sample: \(line)")
        }
        let suffix = match.1.hasPrefix(family) ? match.1.dropFirst(family.count) : "?"
        let suffixes: [Substring] =
            switch families[family] {
            case "gauge": [""]
            case "counter": ["_total"]
            case "histogram": ["_bucket", "_sum", "_count"]
            default: []
            }
        if !suffixes.contains(suffix) { mistakes.append("of another family: \(line)") }
        if families[family] != "gauge", !(value >= 0) { mistakes.append("below zero: \(line)") }
        if !hasHelp { mistakes.append("without HELP: \(family)") }
        hasSamples = true
        let series = String(match.1) + String(match.2 ?? "")
        let names = (match.2 ?? "").matches(of: /([a-zA-Z_][a-zA-Z0-9_]*)="/).map { String($0.1) }
        if Set(names).count != names.count { mistakes.append("a label twice: \(line)") }
        if samples.updateValue(value, forKey: series) != nil { mistakes.append("twice: \(series)") }
    }

    private static func value(_ text: Substring) -> Double? {
        switch text {
        case "NaN": .nan
        case "+Inf": .infinity
        case "-Inf": -.infinity
        default:
            text.wholeMatch(of: /[+-]?[0-9]+(\.[0-9]+)?([eE][+-]?[0-9]+)?/) == nil
                ? nil : Double(text)
        }
    }

    /// Families whose name ends in a base unit say so.
    private mutating func checkUnits() {
        for family in families.keys where !units.contains(family) {
            if family.hasSuffix("_seconds") || family.hasSuffix("_bytes") {
                mistakes.append("without UNIT: \(family)")
            }
        }
    }

    /// Buckets grow up to that of all, which is the count.
    private mutating func checkHistograms() {
        for (name, type) in families where type == "histogram" {
            var series: [String: [(bound: Double, count: Double)]] = [:]
            for (sample, count) in samples where sample.hasPrefix("\(name)_bucket{") {
                guard let match = sample.firstMatch(of: /,?le="([^"]*)"/),
                    let bound = Self.value(match.1)
                else {
                    mistakes.append("no bound: \(sample)")
                    continue
                }
                var labels = sample.dropFirst("\(name)_bucket".count).replacing(match.0, with: "")
                if labels == "{}" { labels = "" }
                series[String(labels), default: []].append((bound, count))
            }
            for (labels, buckets) in series {
                let sorted = buckets.sorted { $0.bound < $1.bound }
                let counts = sorted.map(\.count)
                if counts != counts.sorted() { mistakes.append("buckets shrink: \(name)\(labels)") }
                if sorted.last?.bound != .infinity { mistakes.append("no +Inf: \(name)\(labels)") }
                if samples["\(name)_count\(labels)"] != counts.last {
                    mistakes.append("the count is not that of +Inf: \(name)\(labels)")
                }
                if samples["\(name)_sum\(labels)"] == nil {
                    mistakes.append("no sum: \(name)\(labels)")
                }
            }
        }
    }
}
