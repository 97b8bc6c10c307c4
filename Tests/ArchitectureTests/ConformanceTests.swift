import Testing

@Suite("docs/conformance.md")
struct ConformanceTests {
    static let specifications = [
        ("wire-protocol", "## Wire protocol, section 19"),
        ("app-services", "## App Services, section 16"),
    ]

    @Test("Every line of a checklist has a row", arguments: specifications)
    func completeness(specification: String, heading: String) throws {
        let checklist = Conformance.checklist(
            try Project.text(of: "docs/spec/\(specification).md")
        )
        #expect(checklist.count > 40)
        let rows = Conformance.rows(try Project.text(of: "docs/conformance.md"), under: heading)
        #expect(rows.flatMap { Conformance.lines($0.lines) } == checklist)
    }

    @Test("Every row names tests that exist, or says why there is none", arguments: specifications)
    func references(specification: String, heading: String) throws {
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

    @Test("Rows are taken apart")
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
        #expect(Conformance.checklist("- [ ] H1 one\n- [ ] no name\n- [x] H2 two") == ["H1"])
    }
}
