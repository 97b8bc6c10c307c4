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

    @Test("Messages name manual pages, which packages have, and no file of the sources")
    func pagesInMessages() throws {
        let topics = try Project.text(of: "scripts/manual/roff.py")
        var named: Set<String> = []
        let words = ["docs/", "`man "].map { Array($0.utf8) }
        for source in try Project.files(in: "Sources", suffix: ".swift") {
            let text = try Project.text(of: source)
            // Most files have neither, and regular expressions are slow.
            let bytes = Array(text.utf8)
            guard words.contains(where: bytes.contains) else { continue }
            for line in text.split(separator: "\n")
            where !line.drop(while: { $0 == " " }).hasPrefix("//") {
                #expect(
                    line.firstMatch(of: /docs\/[a-z-]+\.md/) == nil,
                    "\(source): \(line)"
                )
                for match in line.matches(of: /`man ([a-z.-]+)`/) { named.insert(String(match.1)) }
            }
        }
        #expect(named.count >= 4)
        for name in named.sorted() {
            let isTopic = topics.contains("    \"\(name.dropFirst("realm-".count)).md\": ")
            #expect(isTopic || ["realm-agent", "realm-server"].contains(name), "\(name)")
        }
    }

    @Test("docs/errors.md explains every code, and no other")
    func errorCodes() throws {
        let documented = Documentation.documentedCodes(try Project.text(of: "docs/errors.md"))
        let firstWords = Set(
            documented.compactMap { $0.split(separator: ".").first.map(String.init) }
        )
        let sources = try Project.sources().filter { !$0.path.hasSuffix("/ErrorCatalogue.swift") }
        let codes = Documentation.codes(in: sources, firstWords: firstWords)
            .union(try Self.serverCodes())
        for code in codes.subtracting(documented).sorted() {
            Issue.record("docs/errors.md does not explain \(code)")
        }
        for code in documented.subtracting(codes).sorted() {
            Issue.record("docs/errors.md explains \(code), which nothing reports")
        }
    }

    /// The codes of the errors that servers report, made of the names in the protocol.
    private static func serverCodes() throws -> Set<String> {
        let path = "Sources/Core/SyncProtocol/Errors/SyncErrorCode.swift"
        let names = try Project.text(of: path).matches(of: /case ([a-zA-Z]+) = \d+/).map { match in
            match.1.map { $0.isUppercase ? "_\($0.lowercased())" : "\($0)" }.joined()
        }
        #expect(names.count > 40)
        return Set(names.map { "sync.\($0)" } + ["sync.unknown_error"])
    }

    @Test("The numbers of server errors in docs/errors.md are those of the protocol")
    func serverNumbers() throws {
        let path = "Sources/Core/SyncProtocol/Errors/SyncErrorCode.swift"
        let page = try Project.text(of: "docs/errors.md")
        for match in try Project.text(of: path).matches(of: /case ([a-zA-Z]+) = (\d+)/) {
            let name = match.1.map { $0.isUppercase ? "_\($0.lowercased())" : "\($0)" }.joined()
            #expect(page.contains("| `sync.\(name)` | \(match.2) |"), "\(name)")
        }
    }

    @Test("What docs/errors.md says to do about a code is what the programs say")
    func remedies() throws {
        var documented: [String: String] = [:]
        for line in try Project.text(of: "docs/errors.md").split(separator: "\n")
        where line.hasPrefix("| `") {
            let cells = line.dropFirst(2).dropLast(2).split(separator: " | ").map(String.init)
            let code = cells[0].filter { $0 != "`" }
            // They have remedies made for each case.
            if !code.hasPrefix("import."), !code.hasPrefix("config.") {
                documented[code] = cells.last
            }
        }
        #expect(documented.count > 150)
        let catalogue = try Self.catalogue()
        for code in Set(catalogue.keys).union(documented.keys).sorted() {
            #expect(catalogue[code] == documented[code], "\(code)")
        }
    }

    /// The entries of the catalogue, read from its source.
    private static func catalogue() throws -> [String: String] {
        let text = try Project.text(of: "Sources/System/Platform/ErrorCatalogue.swift")
        var entries: [String: String] = [:]
        for match in text.matches(of: /"([a-z_]+\.[a-z_]+)":\s*"((?:[^"\\]|\\")+)",\n/) {
            entries[String(match.1)] = String(match.2.replacing("\\\"", with: "\""))
        }
        for match in text.matches(of: /"([a-z_]+\.[a-z_]+)": """\n([^"]+?)\n\s*"""/) {
            entries[String(match.1)] = match.2.split(separator: "\n").map {
                $0.drop { $0 == " " }
            }.joined().replacing("\\", with: "")
        }
        return entries
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
