import Testing

@Suite("docs/conformance.md")
struct ConformanceTests {
    /// A specification with a checklist, and the part of the page about it.
    struct Part: Sendable, CustomTestStringConvertible {
        let specification: String
        let heading: String
        let count: ClosedRange<Int>
        let names: @Sendable (String) -> [String]

        var testDescription: String { specification }
    }

    static let parts = [
        Part(
            specification: "wire-protocol",
            heading: "## Wire protocol, section 19",
            count: 41...100,
            names: { Conformance.checklist($0) }
        ),
        Part(
            specification: "app-services",
            heading: "## App Services, section 16",
            count: 41...100,
            names: { Conformance.checklist($0) }
        ),
        Part(
            specification: "server-postgres",
            heading: "## Server on PostgreSQL, section 12",
            count: 22...22,
            names: { Conformance.checklist($0) }
        ),
        Part(
            specification: "client-reset",
            heading: "## Client reset, section 16",
            count: 20...20,
            names: { Conformance.openings($0) }
        ),
        Part(
            specification: "moving-an-app",
            heading: "## Moving an app, section 11",
            count: 17...17,
            names: { Conformance.checklist($0) }
        ),
        Part(
            specification: "moving-an-app",
            heading: "## Moving an app, section 13",
            count: 8...8,
            names: { Conformance.notes($0, under: "## 13. What the server must gain") }
        ),
    ]

    @Test("Every line of a checklist has a row", arguments: parts)
    func completeness(part: Part) throws {
        let checklist = part.names(try Project.text(of: "docs/spec/\(part.specification).md"))
        #expect(part.count.contains(checklist.count))
        let page = try Project.text(of: "docs/conformance.md")
        let rows = Conformance.rows(page, under: part.heading)
        #expect(rows.flatMap { Conformance.lines($0.lines) } == checklist)
    }

    @Test("Every row names existing tests, or the reason for none", arguments: parts)
    func references(part: Part) throws {
        let heading = part.heading
        for row in Conformance.rows(try Project.text(of: "docs/conformance.md"), under: heading) {
            let references = Conformance.references(row.tests)
            #expect(!references.isEmpty || row.tests.count > 30, "\(row.lines) says nothing")
            for reference in references {
                let path = "Tests/\(reference.file).swift"
                guard Project.exists(path) else {
                    Issue.record("\(row.lines) names \(path), which does not exist")
                    continue
                }
                #expect(
                    try Project.text(of: path).contains("\"\(reference.test)\""),
                    "\(row.lines): \(path) has no test \(reference.test)"
                )
            }
        }
    }

    @Test("Rows are parsed")
    func rows() {
        let page = """
            ## A

            | Line | Tests |
            |---|---|
            | X2 to X4 | `S/T` "a b", "c"; `U` "d" |
            ## B
            | Y1 | z |
            """
        let rows = Conformance.rows(page, under: "## A")
        #expect(rows.map(\.lines) == ["X2 to X4"])
        #expect(Conformance.lines("X2 to X4") == ["X2", "X3", "X4"])
        #expect(Conformance.lines("Y1") == ["Y1"])
        #expect(
            rows.flatMap { Conformance.references($0.tests) } == [
                .init(file: "S/T", test: "a b"), .init(file: "S/T", test: "c"),
                .init(file: "U", test: "d"),
            ]
        )
        #expect(
            Conformance.openings("- [ ] Never twice.\n- [x] no\n- [ ] Manual: copy, file.")
                == ["Never twice", "Manual"]
        )
        #expect(Conformance.checklist("- [ ] H1 one\n- [ ] no name\n- [x] H2 two") == ["H1"])
    }
}
