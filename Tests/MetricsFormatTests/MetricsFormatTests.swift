import TestSupport
import Testing

@testable import MetricsFormat

@Suite("The text form of metrics", .timeLimit(.minutes(1)))
struct MetricsFormatTests {
    @Test(
        "The check of metrics finds every mistake it is there for",
        arguments: [
            "a 1\n# EOF\n", "# TYPE a gauge\na 1\n# EOF\n", "# TYPE a gauge\n# HELP a A.\na 1\n",
            "# TYPE a gauge\n# HELP a A.\na 1\n# EOF", "# TYPE a gauge\n\n# EOF\n",
            "# TYPE a counter\n# HELP a A.\na 1\n# EOF\n",
            "# TYPE a_total counter\n# HELP a_total A.\na_total_total 1\n# EOF\n",
            "# TYPE a counter\n# HELP a A.\na_total -1\n# EOF\n",
            "# TYPE a gauge\n# HELP a A.\na 1\na 1\n# EOF\n",
            "# TYPE a gauge\n# HELP a A.\na{b=\"\\x\"} 1\n# EOF\n",
            "# TYPE a gauge\n# HELP a A.\na{b=\"1\",b=\"2\"} 1\n# EOF\n",
            "# TYPE a gauge\n# HELP a A.\na{b=\"1\",} 1\n# EOF\n",
            "# TYPE a gauge\n# HELP a A.\na inf\n# EOF\n",
            "# TYPE a_bytes gauge\n# HELP a_bytes A.\na_bytes 1\n# EOF\n",
            "# TYPE a_bytes gauge\n# UNIT a_bytes seconds\n# HELP a_bytes A.\na_bytes 1\n# EOF\n",
            "# TYPE a gauge\n# HELP a A\\t.\na 1\n# EOF\n",
            "# TYPE a set\n# HELP a A.\na 1\n# EOF\n",
            "# TYPE a gauge\n# HELP a A.\n# TYPE a gauge\n# HELP a A.\n# EOF\n",
            "# TYPE a histogram\n# HELP a A.\na_bucket{le=\"1.0\"} 1\na_count 1\na_sum 1\n# EOF\n",
            "# TYPE a histogram\n# HELP a A.\na_bucket{le=\"1.0\"} 3\na_bucket{le=\"+Inf\"} 2\n"
                + "a_count 2\na_sum 1\n# EOF\n",
        ]
    )
    func mistakes(text: String) {
        #expect(!OpenMetricsChecker(text).mistakes.isEmpty)
    }

    @Test("Families whose names end in a base unit say so")
    func units() {
        var metrics = OpenMetrics()
        metrics.gauge("a_seconds", "A.", [])
        metrics.counter("b_bytes", "B.", [.init([], 3)])
        #expect(
            metrics.text == """
                # TYPE a_seconds gauge
                # UNIT a_seconds seconds
                # HELP a_seconds A.
                # TYPE b_bytes counter
                # UNIT b_bytes bytes
                # HELP b_bytes B.
                b_bytes_total 3
                # EOF

                """
        )
        #expect(OpenMetricsChecker(metrics.text).mistakes == [])
    }

    @Test("Counters above the limit share one")
    func limit() {
        var family = CounterFamily("app", "code", limit: 2)
        for app in ["a", "b", "c", "d"] { family.add(app, "1") }
        family.add("a", "1", count: 3)
        family.add("a", "1", count: 0)
        #expect(family.counts == [["a", "1"]: 4, ["b", "1"]: 1, ["other", "other"]: 2])
        var metrics = OpenMetrics()
        metrics.counter("x", "X.", family.samples)
        #expect(metrics.text.contains("x_total{app=\"other\",code=\"other\"} 2\n"))
        #expect(OpenMetricsChecker(metrics.text).mistakes == [])
    }

    @Test("A histogram counts up to and including its bounds")
    func histogram() {
        var histogram = Histogram(bounds: [1, 2])
        for seconds in [0.5, 1, 1.5, 2, 2.5] { histogram.record(seconds: seconds) }
        #expect(histogram.buckets.map(\.count) == [2, 4, 5])
        #expect(histogram.buckets.map(\.bound) == [1, 2, nil])
        #expect(histogram.sum == 7.5)
    }

    @Test("NaN and infinities are written as OpenMetrics spells them, and help is escaped")
    func spelling() {
        var metrics = OpenMetrics()
        metrics.gauge(
            "x",
            "One\nline, and a \\.",
            [
                .init([("n", "1")], .infinity), .init([("n", "2")], -.infinity),
                .init([("n", "3")], .nan), .init([("n", "4")], 1e300), .init([("n", "5")], 1e-7),
            ]
        )
        #expect(OpenMetricsChecker(metrics.text).mistakes == [])
        #expect(metrics.text.contains("x{n=\"1\"} +Inf\nx{n=\"2\"} -Inf\nx{n=\"3\"} NaN\n"))
    }

    @Test("Labels are escaped")
    func escaping() {
        var metrics = OpenMetrics()
        metrics.gauge("x", "X.", [.init([("a", "q\"b\\\n")], 0.25)])
        #expect(
            metrics.text == "# TYPE x gauge\n# HELP x X.\nx{a=\"q\\\"b\\\\\\n\"} 0.25\n# EOF\n"
        )
    }
}
