/// The rules that keep the architecture as its page describes; each returns the violations.
enum ArchitectureRules {
    /// Whether a file's module takes values and returns values: those in `Core`, and `Config`,
    /// which has its own folder.
    static func isPure(_ file: SourceFile) -> Bool {
        file.path.hasPrefix("Sources/Core/") || file.module == "Config"
    }

    /// The modules used by only one of the two programs.
    static let agentModules: Set<String> = [
        "Agent", "AppServices", "Config", "Control", "LocalRealm", "RealmSync", "SyncClient",
        "realm-agent",
    ]
    static let serverModules: Set<String> = [
        "AsymmetricSink", "PostgreSQL", "PostgreSQLServerStore", "SQLiteServerStore", "Server",
        "ServerAccounts", "ServerCluster", "ServerConfig", "ServerConsole", "ServerHTTP",
        "ServerMetrics", "ServerMigration",
        "ServerStorage", "ServerStore", "Surroundings", "SyncServer", "realm-server",
    ]

    // MARK: Arrows

    /// Imports, manifest and page must agree.
    static func reversedArrows(
        _ files: [SourceFile],
        manifest: Manifest,
        table: ModuleTable
    ) -> [String] {
        let ours = Set(manifest.dependencies.keys)
        let imports = files.flatMap { file in
            file.imports.filter { ours.contains($0.module) }.compactMap { statement in
                manifest.dependencies[file.module, default: []].contains(statement.module)
                    ? nil
                    : """
                    \(file.path):\(statement.line): \(file.module) must not import \
                    \(statement.module): Package.swift has no such arrow
                    """
            }
        }
        let libraries = ours.filter { $0.hasPrefix("C") && table.imports[$0] == nil }
        let modules = ours.subtracting(libraries.filter { manifest.dependencies[$0] == [] })
        let arrows = modules.union(table.imports.keys).sorted().flatMap { module in
            compare(
                module,
                manifest: manifest.dependencies[module],
                page: table.imports[module]
            )
        }
        return imports + arrows
    }

    private static func compare(
        _ module: String,
        manifest: Set<String>?,
        page: Set<String>?
    ) -> [String] {
        guard let manifest else {
            return ["docs/ARCHITECTURE.md lists \(module), which Package.swift does not have"]
        }
        guard let page else {
            return ["docs/ARCHITECTURE.md does not list \(module)"]
        }
        return manifest.subtracting(page).sorted().map {
            "\(module) depends on \($0) in Package.swift, but docs/ARCHITECTURE.md has no such arrow"
        }
            + page.subtracting(manifest).sorted().map {
                "\(module) depends on \($0) in docs/ARCHITECTURE.md, but not in Package.swift"
            }
    }

    /// The agent's and the server's modules share modules, but never depend on each other.
    static func crossings(_ manifest: Manifest) -> [String] {
        let halves = [(agentModules, serverModules), (serverModules, agentModules)]
        return halves.flatMap { from, to in
            from.sorted().flatMap { module in
                manifest.reachable(from: module).intersection(to).sorted().map {
                    "\(module) reaches \($0): agent and server never import each other"
                }
            }
        }
    }

    // MARK: Purity

    /// A pure module imports pure modules, the C library it wraps, and FoundationEssentials at most.
    static func impureImports(_ files: [SourceFile], manifest: Manifest) -> [String] {
        let pureModules = manifest.modules(in: "core").union(["Config"])
        let wrapped = ["SyncProtocol": "CZlib", "YAML": "CYAML"]
        return files.filter(isPure).flatMap { file in
            file.imports.filter { statement in
                !pureModules.contains(statement.module)
                    && statement.module != "FoundationEssentials"
                    && statement.module != wrapped[file.module]
            }.map { statement in
                """
                \(file.path):\(statement.line): \(file.module) is pure and must not import \
                \(statement.module): declare what it needs beside its use, and let the shell supply it
                """
            }
        }
    }

    /// Time, randomness and output are parameters of pure modules.
    static func impureCode(_ files: [SourceFile]) -> [String] {
        files.filter(isPure).flatMap { file in
            file.lines.flatMap { line in
                impurities.filter { $0.words.isDisjoint(with: line.words) == false }
                    .filter { $0.isMeant(line.code) }
                    .map {
                        "\(file.path):\(line.number): \(file.module) is pure, but this \($0.does)"
                    }
            }
        }
    }

    /// Words that indicate what a pure module must not do, if the line uses them in that sense.
    private struct Impurity {
        let does: String
        let words: Set<String>
        var isMeant: (String) -> Bool = { _ in true }
    }

    private static var impurities: [Impurity] {
        [
            Impurity(does: "reads a clock", words: ["ContinuousClock", "SuspendingClock"]),
            Impurity(does: "reads a clock", words: ["Date"]) { $0.contains("Date()") },
            Impurity(does: "rolls dice", words: ["SystemRandomNumberGenerator"]),
            Impurity(does: "rolls dice", words: ["random", "randomElement", "shuffled"]) {
                $0.contains(".random(in:") && !$0.contains("using:")
                    || $0.contains(".randomElement()") || $0.contains(".shuffled()")
            },
            Impurity(does: "is concurrent", words: ["Task"]) {
                $0.contains("Task {") || $0.contains("Task.")
            },
            Impurity(does: "is concurrent", words: ["actor", "async", "await"]),
            Impurity(does: "writes output", words: ["print"]) { line in
                ["print(", "{ print("].contains { line.drop { $0 == " " }.hasPrefix($0) }
            },
            Impurity(does: "writes output", words: ["Logger"]),
            Impurity(does: "looks at the machine", words: ["FileManager", "ProcessInfo"]),
        ]
    }

    // MARK: Other packages

    /// The modules that may import the modules of other packages, by the beginning of their names.
    /// Any other module declares a protocol instead, which one of these implements.
    static let foreignImports: [String: Set<String>] = [
        "ArgumentParser": ["realm-agent", "realm-server"],
        "AsyncHTTPClient": ["AppServices", "Control", "Plugins", "ServerHTTP"],
        "Crypto": [
            "LocalRealm", "PostgreSQLServerStore", "ServerAccounts", "ServerStorage", "SyncServer",
        ],
        "DequeModule": [
            "PostgreSQLServerStore", "SQLiteServerStore", "SyncServer", "Transport",
        ],
        "HTTPTypes": ["Control", "ServerConsole", "ServerHTTP"],
        "Hummingbird": ["Control", "ServerConsole", "ServerHTTP"],
        "JWTKit": ["ServerAccounts"],
        "Logging": [
            "Agent", "AsymmetricSink", "Control", "Platform", "Plugins", "PostgreSQLServerStore",
            "RealmSync", "SQLiteServerStore", "Server", "ServerAccounts", "ServerCluster",
            "ServerConsole", "ServerHTTP", "ServerStorage", "SyncClient", "SyncServer",
            "realm-agent", "realm-server",
        ],
        "NIO": [
            "AppServices", "Control", "Outbound", "Plugins", "Server", "ServerConsole",
            "ServerHTTP", "Transport",
        ],
        "NIOSSL": ["Agent", "RealmSync"],
        "ServiceLifecycle": [
            "Agent", "Control", "Server", "ServerConsole", "ServerHTTP",
            "realm-agent", "realm-server",
        ],
        "UnixSignals": ["realm-agent", "realm-server"],
    ]

    /// Modules of the toolchain. Pure modules import fewer of them: see `impureImports`.
    private static let toolchain: Set<String> = [
        "Dispatch", "FoundationEssentials", "Glibc", "Synchronization",
    ]

    static func strayForeignImports(_ files: [SourceFile], manifest: Manifest) -> [String] {
        let known = toolchain.union(manifest.dependencies.keys)
        return files.flatMap { file in
            file.imports.filter { statement in
                !known.contains(statement.module)
                    && !foreignImports.contains { prefix, modules in
                        statement.module.hasPrefix(prefix) && modules.contains(file.module)
                    }
            }.map { statement in
                """
                \(file.path):\(statement.line): \(file.module) must not import \(statement.module): \
                ArchitectureRules.foreignImports lists the modules that may
                """
            }
        }
    }

    // MARK: Waiting

    /// Tasks wait for each other with the tested types of `Coordination`.
    static func strayContinuations(_ files: [SourceFile]) -> [String] {
        let words: Set = [
            "CheckedContinuation", "UnsafeContinuation", "withCheckedContinuation",
            "withCheckedThrowingContinuation", "withUnsafeContinuation",
            "withUnsafeThrowingContinuation",
        ]
        return files.filter {
            $0.module != "Coordination"
        }.flatMap { file in
            file.lines.filter { !words.isDisjoint(with: $0.words) }.map {
                """
                \(file.path):\($0.number): continuations belong in Coordination: use Signal, Promise, \
                Turns, BoundedQueue or BlockingCall
                """
            }
        }
    }

    // MARK: TLS

    /// NIOSSL accepts TLS 1.0 unless configured otherwise, and so does each HTTP client without
    /// settings of its own; those that only open Unix sockets do not use TLS.
    static func oldTLS(_ files: [SourceFile]) -> [String] {
        files.flatMap { file -> [String] in
            let words = Set(file.lines.flatMap(\.words))
            let makes = ["makeClientConfiguration", "makeServerConfiguration"]
            if !words.isDisjoint(with: makes), !words.contains("tlsv12") {
                return ["\(file.path): set minimumTLSVersion to .tlsv12"]
            }
            let makesClient = file.lines.contains { $0.code.contains("HTTPClient.Configuration(") }
            guard makesClient, words.isDisjoint(with: ["tlsConfiguration", "unix"]) else {
                return []
            }
            return ["\(file.path): give HTTPClient a tlsConfiguration of TLS 1.2 or newer"]
        }
    }

    // MARK: Everywhere

    /// Full Foundation adds 44 MB of Unicode data to the programs.
    static func forbiddenImports(_ files: [SourceFile]) -> [String] {
        let forbidden: Set = [
            "Foundation", "FoundationInternationalization", "FoundationNetworking", "XCTest",
        ]
        return files.flatMap { file in
            file.imports.filter { forbidden.contains($0.module) }.map { statement in
                """
                \(file.path):\(statement.line): nothing may import \(statement.module): \
                use FoundationEssentials
                """
            }
        }
    }

    /// Inside a module that has a type of its name, that name can no longer qualify others.
    static func typesNamedLikeTheirModule(_ files: [SourceFile]) -> [String] {
        files.flatMap { file in
            file.types.filter { $0.name == file.module }.map {
                "\(file.path):\($0.line): a type must not bear the name of its module"
            }
        }
    }

    static func placeholders(_ paths: [String]) -> [String] {
        paths.filter { $0.hasSuffix("/Placeholder.swift") }.map {
            "\($0): a module without content does not belong into the package"
        }
    }
}
