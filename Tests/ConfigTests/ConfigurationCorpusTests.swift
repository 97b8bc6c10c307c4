import Config
import FoundationEssentials
import Settings
import Testing

/// Files that are wrong, each ending in the messages that it must bring, as comments `#= …`.
///
/// With `REALM_RECORD_CORPUS` set, the messages are written instead of compared: read the difference.
@Suite("Bad configuration files")
struct ConfigurationCorpusTests {
    static let folder = URL(filePath: #filePath).deletingLastPathComponent()
        .deletingLastPathComponent().appending(path: "Corpus/Configuration")

    static let names: [String] = {
        let files = try? FileManager.default.contentsOfDirectory(atPath: folder.path)
        return (files ?? []).filter { $0.hasSuffix(".yaml") }.sorted()
    }()

    private static let isRecording =
        ProcessInfo.processInfo.environment["REALM_RECORD_CORPUS"] != nil

    @Test("The corpus is there")
    func corpus() {
        #expect(Self.names.count >= 70)
    }

    @Test("Each brings exactly its messages", arguments: names)
    func messages(name: String) throws {
        let url = Self.folder.appending(path: name)
        let lines = String(decoding: try Data(contentsOf: url), as: UTF8.self)
            .split(separator: "\n", omittingEmptySubsequences: false).map(String.init)
        let text = lines.prefix { !$0.hasPrefix("#= ") }.joined(separator: "\n")
        let expected = lines.filter { $0.hasPrefix("#= ") }.map { String($0.dropFirst(3)) }

        let result = load(text + (text.hasSuffix("\n") ? "" : "\n"))
        let messages = result.diagnostics.map(\.description)
        if Self.isRecording {
            let recorded = text + "\n" + messages.map { "#= \($0)\n" }.joined()
            try Data(recorded.utf8).write(to: url)
        } else {
            #expect(messages == expected)
        }
        #expect(!messages.isEmpty)
        let hasErrors = result.diagnostics.contains { $0.severity == .error }
        #expect((result.configuration == nil) == hasErrors)
        #expect(!messages.contains { $0.contains("hunter2") }, "a secret is shown")
    }
}

/// Loads texts where the host is called "till", `STORE` is "42", and three schema files exist.
func load(_ main: String, dropIns: [(String, String)] = []) -> ConfigurationParser.Result {
    ConfigurationParser.load(
        main: ConfigurationSource(file: "realm-agent.yaml", bytes: Array(main.utf8)),
        dropIns: dropIns.map { ConfigurationSource(file: $0, bytes: Array($1.utf8)) },
        inputs: ConfigurationInputs(
            hostName: "till",
            machineID: nil,
            environment: ["STORE": "42"],
            readFile: { path in
                switch path {
                case "/etc/realm-agent.d/schemas/stock.yaml":
                    .success(Array(stockSchema.utf8))
                case "/etc/realm-agent.d/schemas/bad.yaml":
                    .success(
                        Array(
                            "classes:\n  Item: { primary_key: id, properties: { id: int?, a: x } }"
                                .utf8
                        )
                    )
                default:
                    .failure(FileFailure(reason: "no such file"))
                }
            }
        )
    )
}

let stockSchema = """
    classes:
      Item: { primary_key: _id, properties: { _id: object_id, stock: { type: int, counter: true } } }

    """
