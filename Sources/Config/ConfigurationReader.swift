import Settings

/// Reads the sections of a merged configuration, in the order in which they refer to each other.
struct ConfigurationReader {
    private let inputs: ConfigurationInputs

    init(_ inputs: ConfigurationInputs) {
        self.inputs = inputs
    }

    func read(_ root: NodeReader) -> AgentConfiguration? {
        root.mapping { keys in
            checkVersion(keys)
            let daemon = keys.section("agent", readDaemon)
            let apps = Declarations(keys.optional("apps") { $0 }, read: AppReader().read)
            let users = Declarations(
                keys.optional("users") { $0 },
                read: UserReader(apps: apps).read
            )
            let plugins = Declarations(keys.optional("plugins") { $0 }, read: PluginReader().read)
            let realmReader = RealmReader(
                inputs: inputs,
                users: users,
                handlers: HandlerReader(plugins: plugins),
                schemas: SchemaSettingReader(inputs),
                dataDirectory: daemon.dataDirectory
            )
            let realms = Declarations(keys.optional("realms") { $0 }, read: realmReader.read)
            RealmReader.checkPaths(of: realms.values.map(\.value))
            return AgentConfiguration(
                daemon: daemon,
                apps: apps.values.map(\.value),
                users: users.values.map(\.value),
                realms: realms.values.map(\.value.configuration),
                plugins: plugins.values.map(\.value),
                network: keys.section("network", NetworkReader().read)
            )
        }
    }

    private func checkVersion(_ keys: MappingReader) {
        _ = keys.optional("version") { reader in
            reader.integer().map { version in
                guard version != 1 else { return }
                reader.report(
                    .badValue,
                    "this program does not understand version \(version)",
                    remedy: "write version 1, or install a program that does"
                )
            }
        }
    }

    // MARK: Agent

    private func readDaemon(_ keys: MappingReader) -> DaemonConfiguration {
        DaemonConfiguration(
            dataDirectory: keys.optional("data_directory", default: "/var/lib/realm-agent") {
                $0.absolutePath()
            },
            controlSocket: keys.optional(
                "control_socket",
                default: DaemonConfiguration.standardControlSocket,
                Self.socketPath
            ),
            controlGroup: keys.optional(
                "control_group",
                default: DaemonConfiguration.standardControlGroup
            ) {
                $0.string(
                    matching: { text in
                        text.utf8.count <= 32
                            && text.utf8.allSatisfy {
                                $0.isASCIILetter || $0.isASCIIDigit || $0.isOne(of: "-_.")
                            }
                    },
                    expected: "the name of a group"
                )
            },
            log: keys.section("log", readLog),
            metricsAddress: keys.optional("metrics") { reader in
                reader.mapping { keys in keys.required("listen", ListenAddress.read) }
            },
            stalledAfter: keys.optional("stalled_after", default: .seconds(300)) {
                $0.duration(in: .seconds(10)...(.seconds(86_400)))
            }
        )
    }

    static func socketPath(_ reader: NodeReader) -> String? {
        guard let path = reader.absolutePath() else { return nil }
        // The capacity of a `sockaddr_un`, without the final zero.
        guard path.utf8.count <= 107 else {
            reader.report(
                .badValue,
                "the path of a socket cannot have \(path.utf8.count) bytes",
                remedy: "use at most 107"
            )
            return nil
        }
        return path
    }

    private static func checkCategory(_ entry: NodeReader.Entry) {
        guard !LogCategory.names.contains(entry.name) else { return }
        entry.value.diagnostics.report(
            Diagnostic(
                at: entry.nameLocation,
                .unknownName,
                entry.value.path,
                "there is no category \(quoted(entry.name))",
                remedy: Suggestion.remedy(for: entry.name, among: LogCategory.names)
            )
        )
    }

    private func readLog(_ keys: MappingReader) -> LogConfiguration {
        LogConfiguration(
            level: keys.optional("level", default: .info) { $0.choice() },
            output: keys.optional("output") { $0.choice() },
            categories: keys.optional("categories", default: [:]) { reader in
                let levels = reader.entries { entry in
                    Self.checkCategory(entry)
                    return (
                        entry.name, entry.value.choice(of: LogConfiguration.Level.self) ?? .info
                    )
                }
                return Dictionary(levels) { first, _ in first }
            },
            showsValues: keys.optional("values", default: false) { $0.bool() }
        )
    }
}
