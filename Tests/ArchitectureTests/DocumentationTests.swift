import FoundationEssentials
import Testing

@Suite("Documentation")
struct DocumentationTests {
    @Test("Links between pages have targets")
    func links() throws {
        for page in try Project.files(in: "docs", suffix: ".md") {
            let folder = page.split(separator: "/").dropLast().joined(separator: "/")
            for link in Documentation.relativeLinks(try Project.text(of: page)) {
                #expect(Project.exists("\(folder)/\(link)"), "\(page) links to \(link)")
            }
        }
    }

    @Test("docs/errors.md explains every code, and no other")
    func errorCodes() throws {
        let documented = Documentation.documentedCodes(try Project.text(of: "docs/errors.md"))
        let firstWords = Set(
            documented.compactMap { $0.split(separator: ".").first.map(String.init) }
        )
        let codes = Documentation.codes(in: try Project.sources(), firstWords: firstWords)
        for code in codes.subtracting(documented).sorted() {
            Issue.record("docs/errors.md does not explain \(code)")
        }
        for code in documented.subtracting(codes).sorted() {
            Issue.record("docs/errors.md explains \(code), which nothing reports")
        }
    }

    @Test("docs/errors.md explains every exit status, and no other")
    func exitStatuses() throws {
        let documented = try Project.text(of: "docs/errors.md").split(separator: "\n").compactMap {
            $0.hasPrefix("| ") ? Int($0.dropFirst(2).prefix { $0.isNumber }) : nil
        }
        let known = try Project.text(of: "Sources/Client/realm-agent/ExitStatus.swift")
            .split(separator: "\n").filter { $0.contains("    case ") }
            .compactMap { $0.split(separator: "= ").last.flatMap { Int($0) } }
        #expect(known.count == 7)
        #expect(documented == known)
    }

    @Test("Codes are told from other strings")
    func findingCodes() {
        let file = SourceFile(
            path: "A.swift",
            module: "A",
            text: """
                // "realm.in_a_comment"
                case locked = "realm.locked" // "realm.too"
                f("realm.Upper", "realm.a.b", "user.id", "realm.")
                throw Problem(code: "auth.refused", "realm \\(name).x")
                """
        )
        #expect(
            Documentation.codes(in: [file], firstWords: ["realm", "auth"])
                == ["realm.locked", "auth.refused"]
        )
    }

    @Test("Links to other sites and inside the page are not followed")
    func findingLinks() {
        #expect(
            Documentation.relativeLinks(
                "[a](b.md#c), [d](https://e.example), [f](#g) and [h](../i/j.md)"
            ) == ["b.md", "../i/j.md"]
        )
    }
}
