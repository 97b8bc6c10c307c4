import Config
import FoundationEssentials
import SchemaFiles
import Schemas
import Settings
import Testing

@Suite("What ships with the agent")
struct ShippedFilesTests {
    private static let root = URL(filePath: #filePath).deletingLastPathComponent()
        .deletingLastPathComponent().deletingLastPathComponent()

    private func text(of path: String) throws -> String {
        try String(contentsOf: Self.root.appending(path: path), encoding: .utf8)
    }

    @Test("The installed configuration loads without a word, and has nothing to sync")
    func shippedConfiguration() throws {
        let result = load(try text(of: "etc/realm-agent.yaml"))
        #expect(result.diagnostics.map(\.description) == [])
        #expect(result.configuration?.realms == [])
    }

    @Test("Its examples work once their comment signs are taken away")
    func examples() throws {
        let text = try text(of: "etc/realm-agent.yaml").split(separator: "\n").map { line in
            line.hasPrefix("  # ") ? "  \(line.dropFirst(4))" : String(line)
        }.joined(separator: "\n")
        let result = load(text)
        #expect(result.diagnostics.map(\.description) == [])
        #expect(result.configuration?.realms.map(\.name) == ["stock"])
    }

    @Test("The schema that the documentation shows is one")
    func documentedSchema() throws {
        let page = try text(of: "docs/configuration.md")
        let block = try #require(
            page.split(separator: "```yaml\n").last?.split(separator: "```").first
        )
        let (declaration, diagnostics) = SchemaFile.parse(Array(block.utf8), file: "page")
        #expect(diagnostics.map(\.description) == [])
        #expect(declaration?.schema.classes.count == 2)
    }

    /// An unknown key in each mapping: the message about it lists the keys that are known.
    private static let probe = """
        zzzzzz: 1
        agent: { zzzzzz: 1, log: { zzzzzz: 1 } }
        apps:
          NAME:
            zzzzzz: 1
            app_id: a
            base_url: https://a.example.com
            location: { zzzzzz: 1, http: https://a.example.com, ws: wss://a.example.com }
            timeouts: { zzzzzz: 1 }
            backoff: { zzzzzz: 1 }
            tls: { zzzzzz: 1 }
        users:
          NAME: { zzzzzz: 1, app: NAME, provider: anonymous }
        realms:
          NAME: { zzzzzz: 1, user: NAME, partition: null, capture: { zzzzzz: 1 } }
        """

    @Test("docs/configuration.md lists exactly the keys that the agent knows")
    func documentedKeys() throws {
        var known: Set<String> = []
        for diagnostic in load(Self.probe).diagnostics where diagnostic.code == .unknownKey {
            let section = diagnostic.path.description.split(separator: ".").dropLast()
            let keys = diagnostic.remedy.dropFirst("use ".count)
                .replacing(" or ", with: ", ").split(separator: ", ")
            known.formUnion(keys.map { (section + [$0]).joined(separator: ".") })
        }
        // A mapping of settings is documented by its keys.
        let leaves = known.filter { key in !known.contains { $0.hasPrefix(key + ".") } }

        var documented: Set<String> = []
        var section = ""
        for line in try text(of: "docs/configuration.md").split(separator: "\n") {
            if line.hasPrefix("## ") {
                section = line.contains("`") ? "\(line.split(separator: "`")[1])." : ""
            } else if line.hasPrefix("| `") {
                let cell = line.split(separator: "|")[0]
                documented.formUnion(
                    cell.split(separator: ",").map {
                        "\(section)\($0.filter { $0 != "`" && $0 != " " })"
                    }
                )
            }
        }
        #expect(leaves.subtracting(documented) == [], "not documented")
        #expect(documented.subtracting(known) == [], "documented, but unknown")
    }
}
