import Testing

@Suite("The catalogue of log messages")
struct MessageCatalogueTests {
    /// The pairs of message and id in the source.
    func entries() throws -> [String: String] {
        let text = try Project.text(of: "Sources/System/Platform/MessageCatalogue.swift")
        var entries: [String: String] = [:]
        for match in text.matches(of: /"([^"]+)":\s*"([0-9a-f]{32})"/) {
            entries[String(match.1)] = String(match.2)
        }
        return entries
    }

    @Test("docs/logs.md lists every id with its message, and no other")
    func documented() throws {
        var rows: [String: String] = [:]
        for match in try Project.text(of: "docs/logs.md")
            .matches(of: /\| ([^|]+) \| `([0-9a-f]{32})` \|/)
        {
            rows[String(match.1)] = String(match.2)
        }
        let entries = try entries()
        #expect(!entries.isEmpty)
        #expect(rows == entries)
        #expect(Set(entries.values).count == entries.count)
    }

    @Test("Every category that the agent logs with is in the list, and in docs/logs.md")
    func categories() throws {
        let list = try Project.text(of: "Sources/Config/LogCategory.swift")
        let known = Set(list.matches(of: /= "([A-Za-z.]+)"/).map { String($0.1) })
        let page = try Project.text(of: "docs/logs.md")
        for category in known.sorted() {
            #expect(page.contains("| `\(category)` |"), "docs/logs.md lacks \(category)")
        }
        var used: Set<String> = []
        for folder in ["Sources/Agent", "Sources/Client"] {
            for file in try Project.files(in: folder, suffix: ".swift") {
                let text = try Project.text(of: file)
                for match in text.matches(of: /[lL]ogger\("([A-Za-z.]+)"\)/) {
                    used.insert(String(match.1))
                }
            }
        }
        #expect(used == known)
    }

    @Test("Every message of the catalogue occurs in the sources")
    func written() throws {
        let sources = try Project.files(in: "Sources", suffix: ".swift")
            .filter { !$0.hasSuffix("MessageCatalogue.swift") }
            .map { try Project.text(of: $0) }
        for message in try entries().keys.sorted() {
            #expect(
                sources.contains { $0.contains("\"\(message)\"") },
                "no source writes \"\(message)\""
            )
        }
    }
}
