import FoundationEssentials
import Testing

/// Files that `scripts/make-share.sh` generates for the packages.
@Suite("Manual pages, completions and schemas", .timeLimit(.minutes(30)))
struct ManualTests {
    /// As `--experimental-dump-help` prints it.
    private struct Help: Decodable {
        let command: Command

        struct Command: Decodable {
            let commandName: String
            let shouldDisplay: Bool
            let arguments: [Argument]?
            let subcommands: [Command]?
        }

        struct Argument: Decodable {
            let names: [Name]?
            let shouldDisplay: Bool
        }

        struct Name: Decodable {
            let kind: String
            let name: String
        }
    }

    private static let programs = ["realm-agent", "realm-server"]
    private static let root = URL(filePath: #filePath).deletingLastPathComponent()
        .deletingLastPathComponent().deletingLastPathComponent().path

    private func text(_ path: String) throws -> String {
        try String(contentsOfFile: path, encoding: .utf8)
    }

    /// A page as people read it, as far as commands and options are concerned.
    private func plain(_ page: String) throws -> String {
        try text(page).replacing("\\-", with: "-").replacing("\\fB", with: "")
            .replacing("\\fP", with: "").replacing("\\fI", with: "")
    }

    /// The full names of the commands that do something, with the options of each.
    private func leaves(of command: Help.Command, _ path: [String] = [])
        -> [(words: [String], options: [String])]
    {
        let inner = (command.subcommands ?? []).filter {
            $0.shouldDisplay && $0.commandName != "help"
        }
        guard inner.isEmpty else {
            return inner.flatMap { leaves(of: $0, path + [$0.commandName]) }
        }
        let names = (command.arguments ?? []).filter(\.shouldDisplay).flatMap { $0.names ?? [] }
        return [(path, names.filter { $0.kind == "long" }.map { "--\($0.name)" })]
    }

    private func leaves(of program: String) async throws -> [(words: [String], options: [String])] {
        let dump = try await Programs.run(program, ["--experimental-dump-help"])
        #expect(dump.status == 0)
        let help = try JSONDecoder().decode(Help.self, from: Data(dump.output.utf8))
        return leaves(of: help.command)
    }

    /// Makes everything in a directory that is removed afterwards.
    private func withShare(_ body: (_ directory: String) async throws -> Void) async throws {
        let deployment = try Deployment()
        defer { deployment.remove() }
        let made = try await Programs.run(
            "sh",
            ["\(Self.root)/scripts/make-share.sh", Programs.directory, deployment.directory]
        )
        #expect(made.status == 0, "\(made.errors)")
        try await body(deployment.directory)
    }

    @Test("Manual pages hold every command, option, exit status and key")
    func pages() async throws {
        try await withShare { share in
            for (program, page) in [
                ("realm-agent", "realm-agent.1"), ("realm-server", "realm-server.8"),
            ] {
                let text = try plain("\(share)/manual/\(page)")
                let leaves = try await leaves(of: program)
                #expect(leaves.count > 15)
                for (words, options) in leaves {
                    let name = words.joined(separator: " ")
                    #expect(text.contains("\n.SS \(name)\n"), "\(page): \(name)")
                    for option in options { #expect(text.contains(option), "\(page): \(option)") }
                }
            }
            let statuses = try self.text("\(Self.root)/docs/errors.md").split(separator: "\n")
                .filter { $0.hasPrefix("| ") && $0.dropFirst(2).first?.isNumber == true }
                .map { $0.dropFirst(2).prefix { $0.isNumber } }
            #expect(statuses.count == 7)
            let agent = try plain("\(share)/manual/realm-agent.1")
            for status in statuses { #expect(agent.contains("\n.TP\n\(status)\n")) }
            for (source, page) in [
                ("configuration.md", "realm-agent.yaml.5"), ("server.md", "realm-server.yaml.5"),
            ] {
                try keys(of: source, on: "\(share)/manual/\(page)")
            }
            for program in Self.programs {
                try descriptions(in: "\(share)/schemas/\(program).schema.json")
            }
            try await warnings(of: "\(share)/manual")
        }
    }

    /// The first cells of the tables of keys are tags of the page.
    private func keys(of source: String, on page: String) throws {
        let text = try plain(page)
        let key = /^\| `([a-z_.A-Z]+)`/.anchorsMatchLineEndings()
        let markdown = try self.text("\(Self.root)/docs/\(source)")
        let configuration = source == "server.md" ? markdown.sections(["Configuration"]) : markdown
        let keys = configuration.matches(of: key).map { String($0.output.1) }
        #expect(keys.count > 20)
        for key in keys {
            #expect(text.contains(key), "\(page): \(key)")
        }
    }

    /// Editors show them.
    private func descriptions(in path: String) throws {
        let schema = try text(path)
        let described = schema.matches(of: /"description": "([^"]*)"/).map { String($0.output.1) }
        #expect(described.count > 60, "\(path): \(described.count)")
        #expect(described.contains { $0.contains("Default: ") })
        for text in described { #expect(!text.contains("`") && !text.contains("](")) }
    }

    private func warnings(of directory: String) async throws {
        let pages = try FileManager.default.contentsOfDirectory(atPath: directory).sorted()
        #expect(
            pages == [
                "realm-agent.1",
                "realm-agent.8",
                "realm-agent.yaml.5",
                "realm-client-resets.7",
                "realm-control-api.7",
                "realm-encryption-at-rest.7",
                "realm-errors.7",
                "realm-flexible-sync.7",
                "realm-local-realm.7",
                "realm-logs.7",
                "realm-metrics.7",
                "realm-moving-an-app.7",
                "realm-plugins.7",
                "realm-scaling.7",
                "realm-server.8",
                "realm-server.yaml.5",
            ]
        )
        // Each page is in a package.
        let packaged = try Self.programs.flatMap { program in
            try text("\(Self.root)/packaging/debian/\(program).manpages").split(separator: "\n")
                .map { String($0.dropFirst("share/manual/".count)) }
        }
        #expect(packaged.sorted() == pages)
        for page in pages {
            let shown = try await Programs.run(
                "sh",
                [
                    "-c",
                    "command -v man >/dev/null || exit 77; LC_ALL=C.UTF-8 man --warnings -l \"$0\"",
                    "\(directory)/\(page)",
                ]
            )
            if shown.status == 77 {
                return print("man is not installed: its warnings are not seen")
            }
            #expect(shown.status == 0 && shown.errors.isEmpty, "\(page): \(shown.errors)")
        }
    }

    @Test(
        "Completions contain every command, and their shells read them",
        arguments: ["bash", "zsh", "fish"]
    )
    func completions(shell: String) async throws {
        try await withShare { share in
            for program in Self.programs {
                let file = "\(share)/completions/\(program).\(shell)"
                let text = try text(file)
                #expect(!text.hasPrefix("#!"))
                for (words, options) in try await leaves(of: program) {
                    for word in words + options {
                        #expect(text.contains(word.drop { $0 == "-" }), "\(file): \(word)")
                    }
                }
                let read = try await Programs.run(
                    "sh",
                    ["-c", "command -v \(shell) >/dev/null || exit 77; \(shell) -n \"$0\"", file]
                )
                if read.status == 77 { print("\(shell) is not installed") }
                #expect([0, 77].contains(read.status), "\(read.errors)")
            }
        }
    }

    @Test("bash offers commands, options and the verbs below a command")
    func bash() async throws {
        try await withShare { share in
            for (line, expected) in [
                ("realm-agent sus", "suspend"), ("realm-agent config s", "schema"),
                ("realm-agent status --js", "--json"), ("realm-server sync t", "terminate"),
            ] {
                let program = line.prefix { $0 != " " }
                let words = line.split(separator: " ").map { "'\($0)'" }
                let offered = try await Programs.run(
                    "bash",
                    [
                        "-c",
                        """
                        . "$0"; COMP_WORDS=(\(words.joined(separator: " "))) COMP_CWORD=\(words.count - 1)
                        COMP_LINE='\(line)' COMP_POINT=${#COMP_LINE}
                        handler=$(complete -p \(program) | sed 's/.*-F \\([^ ]*\\).*/\\1/')
                        "$handler" \(program) \(words.last ?? "") \(words.dropLast().last ?? "")
                        printf '%s\\n' "${COMPREPLY[@]}"
                        """,
                        "\(share)/completions/\(program).bash",
                    ]
                )
                let offers = offered.output.split(whereSeparator: \.isWhitespace)
                #expect(
                    offers.contains(Substring(expected)),
                    "\(line): \(offered.output)\(offered.errors)"
                )
            }
        }
    }

    @Test("The examples of every key are valid but for absent files; usage errors end with 2")
    func examples() async throws {
        for program in Self.programs {
            let checked = try await Programs.run(
                program,
                ["check", "--config", "\(Self.root)/examples/\(program).yaml"]
            )
            // The server's example names files that only its owner has.
            let errors = checked.errors.split(separator: "\n").filter { $0.contains(": error:") }
            #expect(errors.allSatisfy { $0.contains("/etc/realm-server.d/") }, "\(checked.errors)")
            #expect(checked.status == (errors.isEmpty ? 0 : 2), "\(program): \(checked.errors)")
            let misused = try await Programs.run(program, ["no-such-verb"])
            #expect(misused.status == 2)
            let schema = try await Programs.run(program, ["config", "schema"])
            #expect(schema.output.contains("https://json-schema.org/draft/2020-12/schema"))
        }
        let versions = try await Self.programs.asyncMap {
            try await Programs.run($0, ["--version"]).output
        }
        #expect(versions[0] == versions[1])
    }
}

extension String {
    /// The text below these headings of the second rank.
    fileprivate func sections(_ titles: [String]) -> String {
        split(separator: "\n## ").filter { section in titles.contains { section.hasPrefix($0) } }
            .joined(separator: "\n")
    }
}

extension Sequence {
    fileprivate func asyncMap<Value>(_ body: (Element) async throws -> Value) async rethrows
        -> [Value]
    {
        var values: [Value] = []
        for element in self { values.append(try await body(element)) }
        return values
    }
}
