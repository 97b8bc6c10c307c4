import Config
import FoundationEssentials
import SchemaFiles
import Schemas
import Settings
import Testing
import YAML

@Suite("What ships with the agent")
struct ShippedFilesTests {
    private static let root = URL(filePath: #filePath).deletingLastPathComponent()
        .deletingLastPathComponent().deletingLastPathComponent()

    private func text(of path: String) throws -> String {
        try String(contentsOf: Self.root.appending(path: path), encoding: .utf8)
    }

    @Test("The installed configuration loads without a diagnostic, and has no realms")
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

    /// The dotted names of all settings of a form; free names are written `NAME`.
    private func keys(of form: SettingForm, path: String = "") -> Set<String> {
        switch form {
        // One of several forms of a single value, such as the place of a secret.
        case .mapping(let mapping) where mapping.oneOfKeys.count == mapping.keys.count:
            return [path]
        case .mapping(let mapping):
            return mapping.keys.reduce(into: []) { keys, key in
                let name = path.isEmpty ? key.name : "\(path).\(key.name)"
                keys.formUnion(self.keys(of: key.form, path: name))
            }
        case .named(let element):
            // A name that leads to a plain value is documented with what it belongs to.
            let isSection = ["apps", "users", "realms", "plugins"].contains(path)
            return isSection ? keys(of: element, path: "\(path).NAME") : [path]
        // A proxy is a URL or a mapping; the forms of all else are explained in one row.
        case .anyOf(let forms) where path.hasSuffix(".proxy"):
            return forms.reduce(into: [path]) { $0.formUnion(keys(of: $1, path: path)) }
        default:
            return [path]
        }
    }

    @Test("The examples of the sections hold every key, and are valid")
    func completeExample() throws {
        let text = try text(of: "examples/realm-agent.yaml")
        let errors = load(text).diagnostics.filter { $0.severity == .error }
        #expect(errors.map(\.description) == [])
        let root = try #require(try YAMLNode.parse(Array(text.utf8), file: "example"))
        let known = keys(of: ConfigurationSchema.form)
        #expect(known.subtracting(paths(in: root)) == [], "add them to examples/realm-agent.yaml")
    }

    /// The dotted names of all keys in a document; names chosen by users are written `NAME`.
    private func paths(in node: YAMLNode, at path: String = "") -> Set<String> {
        guard case .mapping(let mapping) = node.content else { return [path] }
        return mapping.entries.reduce(into: [path]) { paths, entry in
            let isName = ["apps", "users", "realms", "plugins"].contains(path)
            let name = isName ? "NAME" : entry.key
            paths.formUnion(
                self.paths(in: entry.value, at: path.isEmpty ? name : "\(path).\(name)")
            )
        }
    }

    @Test("docs/configuration.md lists exactly the keys that the agent knows")
    func documentedKeys() throws {
        let known = keys(of: ConfigurationSchema.form)
        let sections: Set = ["agent", "apps", "users", "realms", "network", "plugins"]
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
        #expect(known.subtracting(documented) == [], "not documented")
        #expect(
            documented.subtracting(known).subtracting(sections) == [],
            "documented, but unknown"
        )
    }
}
