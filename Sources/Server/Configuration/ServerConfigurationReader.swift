package import Settings

/// Reads `realm-server.yaml` (interfaces, 8): either a configuration, or everything that is wrong
/// with the text. There may be warnings besides a configuration.
package enum ServerConfigurationReader {
    package static func read(
        _ bytes: [UInt8],
        file: String
    ) -> (configuration: ServerConfiguration?, diagnostics: [Diagnostic]) {
        let diagnostics = DiagnosticCollector()
        let configuration = diagnostics.parse(bytes, file: file).flatMap { node in
            read(NodeReader(node, diagnostics: diagnostics))
        }
        return (
            diagnostics.hasErrors ? nil : configuration,
            diagnostics.diagnostics
        )
    }

    static func read(_ reader: NodeReader) -> ServerConfiguration? {
        reader.mapping { root in
            _ = root.optional("version") { $0.integer(in: 1...1) }
            var configuration = root.section("server", server)
            configuration.apps = root.optional("apps", default: []) { $0.apps() }
            return configuration
        }
    }

    /// Reads what `apps.ID` would say, as it was given to a server that runs.
    static func app(
        _ id: AppID,
        _ text: String
    ) -> (configuration: AppConfiguration?, diagnostics: [Diagnostic]) {
        let diagnostics = DiagnosticCollector()
        let configuration = diagnostics.parse(Array(text.utf8), file: id.rawValue).flatMap { node in
            NodeReader(node, diagnostics: diagnostics).mapping {
                AppConfiguration(id: id, reading: $0)
            }
        }
        return (diagnostics.hasErrors ? nil : configuration, diagnostics.diagnostics)
    }

    private static func server(_ keys: MappingReader) -> ServerConfiguration {
        return ServerConfiguration(
            listen: keys.optional("listen", default: .standard) { $0.listenAddress() },
            publicURL: keys.optional("public_url") { $0.publicURL() },
            storage: keys.optional("storage", default: .standard) { $0.storage() },
            adminSocket: keys.optional("admin_socket") { $0.absolutePath() },
            tls: keys.optional("tls") { $0.tls() },
            log: keys.section("log") { log in
                LogConfiguration(
                    level: log.optional("level", default: .info) { $0.choice() },
                    output: log.optional("output") { $0.choice() }
                )
            },
            apps: []
        )
    }
}

// MARK: The server

extension NodeReader {
    fileprivate func listenAddress() -> ListenAddress? {
        let text = string(
            matching: { ListenAddress($0) != nil },
            expected: "an address and port such as 127.0.0.1:9090 or [::1]:9090"
        )
        return text.flatMap { ListenAddress($0) }
    }

    fileprivate func publicURL() -> PublicURL? {
        let text = string(
            matching: { PublicURL($0) != nil },
            expected: "a URL of scheme, host and port only, such as https://sync.example.com"
        )
        return text.flatMap { PublicURL($0) }
    }

    fileprivate func storage() -> StorageLocation? {
        guard let text = string() else { return nil }
        if text.hasPrefix("postgresql://") {
            report(
                .unsupported,
                "PostgreSQL is not supported yet by this version",
                remedy: "use sqlite:/PATH"
            )
            return nil
        }
        let path = text.hasPrefix("sqlite:") ? text.dropFirst("sqlite:".count) : ""
        guard path.hasPrefix("/"), !path.hasSuffix("/"), !path.utf8.contains(0) else {
            report(
                .badValue,
                "names no store",
                remedy: "give sqlite: and an absolute path, such as \(StorageLocation.example)"
            )
            return nil
        }
        return .sqlite(path: String(path))
    }
}

extension NodeReader {
    fileprivate func tls() -> ServerTLS.TLSFiles? {
        mapping { keys in
            let certificate = keys.required("certificate") { $0.absolutePath() }
            let key = keys.required("key") { node in
                node.secret().flatMap { reference -> String? in
                    if case .file(let path) = reference { return path }
                    node.report(.badValue, "names no file", remedy: "give { file: PATH }")
                    return nil
                }
            }
            guard let certificate, let key else { return nil }
            return ServerTLS.TLSFiles(certificate: certificate, key: key)
        }
    }

    fileprivate func accessRule() -> AccessRule? {
        guard let text = string() else { return nil }
        do throws(AccessRule.SyntaxError) {
            return try AccessRule(text)
        } catch {
            report(
                .badValue,
                "is no rule: \(error)",
                remedy: "write a condition such as partition == user.id"
            )
            return nil
        }
    }
}

extension StorageLocation {
    fileprivate static let example = "sqlite:/var/lib/realm-server/server.sqlite"
}

// MARK: Apps

extension NodeReader {
    fileprivate func apps() -> [AppConfiguration] {
        let apps = entries { entry -> AppConfiguration? in
            guard let id = AppID(entry.name) else {
                entry.value.diagnostics.report(
                    Diagnostic(
                        at: entry.nameLocation,
                        .badValue,
                        entry.value.path,
                        "cannot be an app id",
                        remedy: "use letters, digits, \"_\" and \"-\" only"
                    )
                )
                return nil
            }
            return entry.value.mapping { AppConfiguration(id: id, reading: $0) }
        }
        return apps.compactMap { $0 }
    }
}

extension AppConfiguration {
    fileprivate init(id: AppID, reading keys: MappingReader) {
        keys.notYetSupported("rules")
        let offlineLimit = keys.optional("offline_limit", default: Self.usualOfflineLimit) {
            $0.duration(in: .zero...(.seconds(3650 * 86_400)))
        }
        self.init(
            id: id,
            partitionType: keys.section("sync") { sync in
                sync.notYetSupported("queryable_fields")
                _ = sync.optional("mode") { $0.choice(of: SyncMode.self, later: ["flexible"]) }
                // The partition of an object is the file it is in: the name is for people.
                _ = sync.optional("partition_key") { $0.string() }
                return sync.optional("partition_type") { $0.choice() }
            },
            isDevelopmentMode: keys.optional("development_mode", default: false) { $0.bool() },
            allowsClientRecovery: keys.optional("client_recovery", default: true) { $0.bool() },
            anonymous: false,
            emailPassword: nil,
            tokens: keys.section("tokens") { TokenLifetimes(reading: $0) },
            access: keys.section("access") { access in
                AccessRules(
                    read: access.optional("read") { $0.accessRule() },
                    write: access.optional("write") { $0.accessRule() }
                )
            },
            schemaFile: keys.optional("schema") { $0.absolutePath() },
            offlineLimit: offlineLimit > .zero ? offlineLimit : nil
        )
        let providers = keys.section("providers") { Providers(reading: $0) }
        self.anonymous = providers.anonymous
        self.emailPassword = providers.emailPassword
        self.apiKey = providers.apiKey
        self.jwt = providers.jwt
    }
}

extension AppConfiguration {
    /// Reads an app that was declared on the admin socket.
    init(id: AppID, declaration: String) throws(BadDeclaration) {
        let (configuration, diagnostics) = ServerConfigurationReader.app(id, declaration)
        guard let configuration else { throw BadDeclaration(diagnostics: diagnostics) }
        self = configuration
    }
}

private enum SyncMode: String, CaseIterable {
    case partition
}

private struct Providers {
    let anonymous: Bool
    let emailPassword: EmailPasswordConfiguration?
    let apiKey: Bool
    let jwt: JWTConfiguration?

    init(reading keys: MappingReader) {
        keys.notYetSupported("function")
        self.apiKey = keys.optional("api_key", default: false) { $0.bool() }
        self.jwt = keys.optional("jwt") { $0.jwt() }
        self.anonymous = keys.optional("anonymous", default: false) { $0.bool() }
        self.emailPassword = keys.optional("email_password") { node in
            node.mapping { settings in
                let maximum = EmailPasswordConfiguration.maximumLength
                let standard = EmailPasswordConfiguration()
                return EmailPasswordConfiguration(
                    confirmsAtOnce: settings.optional("auto_confirm", default: true) { $0.bool() },
                    minimumLength: settings.optional(
                        "min_length",
                        default: standard.minimumLength
                    ) { $0.integer(in: 1...maximum) }
                )
            }
        }
    }
}

extension TokenLifetimes {
    fileprivate init(reading keys: MappingReader) {
        let standard = TokenLifetimes()
        let refresh = Self.refreshRange
        self.init(
            access: keys.optional("access", default: standard.access) {
                $0.seconds(in: .seconds(1)...(.seconds(86_400)))
            },
            refresh: keys.optional("refresh", default: standard.refresh) {
                $0.seconds(in: .seconds(refresh.lowerBound)...(.seconds(refresh.upperBound)))
            }
        )
    }
}

extension NodeReader {
    fileprivate func seconds(in range: ClosedRange<Duration>) -> Int64? {
        duration(in: range).map(\.components.seconds)
    }
}
