import FoundationEssentials
import Testing

/// The pages that lead to the code: a sentence on every module and folder, and types that exist.
@Suite("Maps of the code")
struct MapTests {
    @Test("docs/ARCHITECTURE.md has one sentence on each module")
    func sentences() throws {
        let rows = ModuleTable(try Project.text(of: "docs/ARCHITECTURE.md")).sentences
        #expect(rows.map(\.module).sorted() == Set(try Project.sources().map(\.module)).sorted())
        for row in rows {
            let count = row.sentence.split(separator: " ").count
            #expect((3...25).contains(count), "\(row.module): \(row.sentence)")
        }
        #expect(Set(rows.map(\.sentence)).count == rows.count)
    }

    @Test("The landing page of a module opens with its sentence")
    func landingPages() throws {
        let rows = ModuleTable(try Project.text(of: "docs/ARCHITECTURE.md")).sentences
        for page in try Project.files(in: "Sources", suffix: ".docc") {
            let module = Project.module(of: page)
            let sentence = try #require(rows.first { $0.module == module }?.sentence)
            let text = try Project.text(of: "\(page)/\(module).md")
            #expect(
                text.lowercased().hasPrefix(
                    "# ``\(module.lowercased())``\n\n\(sentence.lowercased())."
                )
            )
        }
    }

    @Test(
        "docs/FOLDERS.md names every folder of a module, and no other",
        arguments: [
            "Agent", "Backend/ServerAccounts", "Backend/ServerHTTP", "Backend/ServerStore",
            "Backend/SyncServer", "Client/LocalRealm", "Client/RealmSync",
        ]
    )
    func folders(path: String) throws {
        let files = try Project.files(in: "Sources/\(path)", suffix: ".swift")
        let module = Project.module(of: "Sources/\(path)")
        let folders = Set(
            files.map { file in
                file.dropFirst("Sources/\(path)/".count).split(separator: "/").dropLast()
                    .joined(separator: "/")
            }
        ).subtracting([""])
        let page = try Project.text(of: "docs/FOLDERS.md")
        #expect(Folders.rows(page, of: module).sorted() == folders.sorted())
    }

    @Test("Types that docs/ARCHITECTURE.md names exist")
    func types() throws {
        let declared = Set(try Project.sources().flatMap { $0.types.map(\.name) })
        let modules = Set(try Project.sources().map(\.module))
        let page = try Project.text(of: "docs/ARCHITECTURE.md")
        let start = try #require(page.firstRange(of: "## Where to find things"))
        let end = try #require(page.firstRange(of: "## The simulated world"))
        let names = Folders.typeNames(String(page[start.upperBound..<end.lowerBound]))
        #expect(names.count > 20)
        // Types of the tests.
        let unknown = Set(names).subtracting(declared).subtracting(modules)
        #expect(unknown == ["BackplaneKind", "ServerFixtures", "StoreKind"])
    }

    @Test("Rows and names are found")
    func samples() {
        let page = """
            ## `A`
            | folder | purpose |
            |---|---|
            | `B/C` | x |
            ## `D`
            | `E` | y |
            """
        #expect(Folders.rows(page, of: "A") == ["B/C"])
        #expect(Folders.rows(page, of: "D") == ["E"])
        #expect(Folders.rows(page, of: "F") == [])
        #expect(
            Folders.typeNames("`Drain` of `docs/a.md`, `x`, `A+B` and `RunCommand`") == [
                "Drain", "RunCommand",
            ]
        )
    }
}

/// Finds the folders and types that pages name.
enum Folders {
    /// The first cells of the table under the heading of a module.
    static func rows(_ markdown: String, of module: String) -> [String] {
        var rows: [String] = []
        var isHere = false
        for line in markdown.split(separator: "\n") {
            if line.hasPrefix("## ") { isHere = line == "## `\(module)`" }
            if isHere, line.hasPrefix("| `") {
                rows.append(String(line.dropFirst(3).prefix { $0 != "`" }))
            }
        }
        return rows
    }

    /// The words in backquotes that could be types: letters only, the first a capital.
    static func typeNames(_ markdown: String) -> [String] {
        markdown.split(separator: "`", omittingEmptySubsequences: false).enumerated()
            .compactMap { position, text in
                guard !position.isMultiple(of: 2), text.first?.isUppercase == true,
                    text.allSatisfy(\.isLetter), text.contains(where: \.isLowercase)
                else { return nil }
                return String(text)
            }
    }
}
