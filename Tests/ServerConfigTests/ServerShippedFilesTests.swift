import FoundationEssentials
import ServerFixtures
import Settings
import Testing

@testable import ServerConfig
@testable import ServerStore

@Suite("Files shipped with the server")
struct ServerShippedFilesTests {
    private func text(of path: String) throws -> String {
        let root = URL(filePath: #filePath).deletingLastPathComponent()
            .deletingLastPathComponent().deletingLastPathComponent()
        return try String(contentsOf: root.appending(path: path), encoding: .utf8)
    }

    /// The dotted names of all settings of a form; the name of an app is written `APP`.
    private func keys(of form: SettingForm, path: String = "") -> Set<String> {
        switch form {
        // One of several forms of a single value, such as the place of a secret.
        case .mapping(let mapping) where mapping.oneOfKeys.count == mapping.keys.count:
            return [path]
        case .mapping(let mapping):
            return mapping.keys.reduce(into: []) { keys, key in
                keys.formUnion(
                    self.keys(of: key.form, path: path.isEmpty ? key.name : "\(path).\(key.name)")
                )
            }
        case .anyOf(let forms) where path == "server.storage":
            return forms.reduce(into: [path]) { $0.formUnion(keys(of: $1, path: path)) }
        case .named(let element) where path == "apps":
            return keys(of: element, path: "apps.APP")
        default:
            return [path]
        }
    }

    private var known: Set<String> { keys(of: ServerConfigurationSchema.form) }

    @Test("The example of every section holds every key, without mistakes")
    func completeExample() throws {
        let text = try text(of: "examples/realm-server.yaml")
        let (configuration, diagnostics) = ServerConfigurationReader.read([
            ConfigurationSource(file: "realm-server.yaml", bytes: Array(text.utf8))
        ])
        #expect(diagnostics.map(\.description) == [])
        #expect(configuration?.apps.count == 6)
        #expect(known.count > 25)
        for key in known {
            let name = try #require(key.split(separator: ".").last)
            #expect(text.contains("\(name):"), "add \(key) to examples/realm-server.yaml")
        }
    }

    @Test("The example's store on PostgreSQL has every key, once its lines are uncommented")
    func postgreSQLExample() throws {
        let lines = try text(of: "examples/realm-server.yaml").split(separator: "\n")
        let start = try #require(lines.firstIndex { $0.contains("# storage:") })
        let block = lines[start...].prefix { $0.hasPrefix("  #") }.map { "  " + $0.dropFirst(4) }
        let text = (["server:"] + block).joined(separator: "\n")
        let (configuration, diagnostics) = ServerConfigurationReader.read([
            ConfigurationSource(file: "x.yaml", bytes: Array(text.utf8))
        ])
        #expect(diagnostics.map(\.description) == [])
        guard case .postgreSQL(let location) = configuration?.storage else {
            Issue.record("the example's store is not on PostgreSQL")
            return
        }
        #expect(location.hosts.count == 2)
        let prefix = "server.storage.postgresql."
        for key in known where key.hasPrefix(prefix) {
            let name = key.dropFirst(prefix.count).prefix { $0 != "." }
            #expect(text.contains("\(name):"), "add \(key) to the example")
        }
    }

    @Test("docs/server.md explains every key")
    func documentedKeys() throws {
        var documented: Set<String> = []
        for line in try text(of: "docs/server.md").split(separator: "\n")
        where line.hasPrefix("| `") {
            let cells = line.split(separator: "|")
            // Keys in one cell share the path before the last dot.
            var parent = ""
            for cell in cells[0].split(separator: ",") {
                let name = cell.filter { $0 != "`" && $0 != " " }
                documented.insert(name.contains(".") ? name : parent + name)
                parent = name.lastIndex(of: ".").map { String(name[...$0]) } ?? parent
            }
            // What belongs to a key is explained in its text.
            guard let key = documented.first(where: { cells[0].contains("`\($0)`") }),
                let meaning = cells.last
            else { continue }
            for (position, word) in meaning.split(separator: "`").enumerated()
            where !position.isMultiple(of: 2) {
                documented.insert("\(key).\(word.prefix { $0 != ":" })")
            }
        }
        for key in known.subtracting(documented).sorted() {
            Issue.record("docs/server.md does not explain \(key)")
        }
    }

    @Test("The JSON Schema has every key of the root, and refuses others")
    func schema() throws {
        struct Schema: Decodable {
            struct Ignored: Decodable {}
            let properties: [String: Ignored]
            let additionalProperties: Bool
        }
        let schema = try JSONDecoder().decode(
            Schema.self,
            from: Data(ServerConfigurationSchema.text().utf8)
        )
        #expect(Set(schema.properties.keys) == ["version", "server", "apps"])
        #expect(!schema.additionalProperties)
    }
}
