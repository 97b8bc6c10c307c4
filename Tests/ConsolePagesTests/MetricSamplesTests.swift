import ConsolePages
import Testing

@Suite("Samples of metrics")
struct MetricSamplesTests {
    @Test("Samples have their labels and values, and other lines are left out")
    func reading() throws {
        let samples = MetricSamples(
            #"""
            # TYPE a counter
            a_total{app="x",code="q\"\\\n"} 3
            a_total{app="y"} 4.5 1700000000
            b 1e3
            broken{app="x
            broken{app=x} 1
            no_value{app="x"}
            # EOF

            """#
        )
        #expect(samples.all.map(\.name) == ["a_total", "a_total", "b"])
        let first = try #require(samples.all.first)
        #expect(first.labels == ["app": "x", "code": "q\"\\\n"])
        #expect(samples.sum("a_total") == 7.5)
        #expect(samples.sum("a_total", ["app": "x"]) == 3)
        #expect(samples.sum("a_total", ["app": "z"]) == 0)
        #expect(samples.sum("b") == 1000)
    }

    @Test(
        "Any text has an answer",
        arguments: ["", "{", "a{", "a{b=\"", "a{b=\"\\", "a{,} 1", " ", "\r\n"]
    )
    func anyText(text: String) {
        #expect(MetricSamples(text).all.isEmpty)
    }
}
