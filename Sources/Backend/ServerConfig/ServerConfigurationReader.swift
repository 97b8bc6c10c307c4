import Schemas
import Scopes
package import ServerStore
package import Settings
import YAML

/// Reads `realm-server.yaml` and its drop-ins (interfaces, 8): either a configuration, or all
/// mistakes of the texts. A configuration may come with warnings.
package enum ServerConfigurationReader {
    /// The main file first; each text overrides those before it. With `files`, the files that the
    /// configuration names are also read and checked.
    package static func read(
        _ sources: [ConfigurationSource],
        files: NamedFiles? = nil
    ) -> (configuration: ServerConfiguration?, diagnostics: [Diagnostic]) {
        let diagnostics = DiagnosticCollector()
        let main = sources.first?.file
        let root = diagnostics.merge(sources) { root in
            root.location.file == main ? root : root.withoutSchema(diagnostics)
        }
        let configuration = root.flatMap { node in
            read(NodeReader(node, diagnostics: diagnostics), files)
        }
        return (
            diagnostics.hasErrors ? nil : configuration,
            diagnostics.diagnostics
        )
    }

    static func read(_ reader: NodeReader, _ files: NamedFiles? = nil) -> ServerConfiguration? {
        reader.mapping { root in
            _ = root.optional("version") { $0.integer(in: 1...1) }
            var configuration = root.section("server") { server($0, files) }
            configuration.apps = root.optional("apps", default: []) { $0.apps(files) }
            return configuration
        }
    }

    /// Reads the content of `apps.ID`, as an operator gives it to a running server.
    static func app(
        _ id: AppID,
        _ text: String
    ) -> (configuration: ServedAppConfiguration?, diagnostics: [Diagnostic]) {
        let diagnostics = DiagnosticCollector()
        let configuration = diagnostics.parse(Array(text.utf8), file: id.rawValue).flatMap { node in
            NodeReader(node, diagnostics: diagnostics).mapping {
                ServedAppConfiguration(id: id, reading: $0, nil)
            }
        }
        return (diagnostics.hasErrors ? nil : configuration, diagnostics.diagnostics)
    }

    static func server(
        _ keys: MappingReader,
        _ files: NamedFiles?
    ) -> ServerConfiguration {
        let publicURL = keys.optional("public_url") { $0.publicURL() }
        let hasPublicURL = keys.contains("public_url")
        return ServerConfiguration(
            listen: keys.optional("listen", default: .standardOfServer) { $0.listenAddress() },
            publicURL: publicURL,
            trustedProxies: keys.optional("trusted_proxies", default: []) { list in
                if !hasPublicURL { list.warnOfLocation() }
                return list.elements { $0.addressRange() }
            },
            storage: keys.optional("storage", default: .standard) { $0.storage(files) },
            adminSocket: keys.optional("admin_socket") { $0.absolutePath() },
            metricsAddress: keys.section("metrics") { metrics in
                metrics.optional("listen") { $0.listenAddress() }
            },
            tls: keys.optional("tls") { $0.certificate(files) },
            log: keys.section("log") { log in
                ServerLogConfiguration(
                    level: log.optional("level", default: .info) { $0.choice() },
                    output: log.optional("output") { $0.choice() }
                )
            },
            limits: keys.section("limits") { ServerLimits(reading: $0) },
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

    /// The location route then names the scheme and host that the proxy has asked for.
    fileprivate func warnOfLocation() {
        report(
            .insecure,
            severity: .warning,
            "there is a proxy and no server.public_url: clients are sent to http://, with their tokens, "
                + "even if the proxy has TLS",
            remedy: "set server.public_url to the proxy's URL"
        )
    }

    fileprivate func addressRange() -> AddressRange? {
        let text = string(
            matching: { AddressRange($0) != nil },
            expected: "an address or a range such as 127.0.0.1, 10.0.0.0/8 or fd00::/8"
        )
        return text.flatMap { AddressRange($0) }
    }
}

extension NodeReader {
    /// A certificate and its key; with files, both are checked.
    func certificate(_ named: NamedFiles?) -> CertificateFiles? {
        mapping { keys in
            let certificate = keys.required("certificate") { $0.absolutePath() }
            let key = keys.required("key") { node in
                node.secret().flatMap { reference -> String? in
                    named?.checkPrivacy(of: reference, at: node)
                    if case .file(let path) = reference { return path }
                    node.report(.badValue, "names no file", remedy: "give { file: PATH }")
                    return nil
                }
            }
            guard let certificate, let key else { return nil }
            let files = CertificateFiles(certificate: certificate, key: key)
            named?.check(files, at: self)
            return files
        }
    }
}

extension YAMLNode {
    /// Reports a schema file among the drop-ins, and leaves it out.
    fileprivate func withoutSchema(_ diagnostics: DiagnosticCollector) -> YAMLNode {
        guard case .mapping(var mapping) = content, let schema = mapping["classes"] else {
            return self
        }
        diagnostics.report(
            Diagnostic(
                at: schema.keyLocation,
                .unknownKey,
                SettingPath.root.appending("classes"),
                "a schema is not part of the configuration",
                remedy: "move the file into a subdirectory, such as schemas"
            )
        )
        mapping.entries.removeAll { $0.key == "classes" }
        return YAMLNode(location: location, tag: tag, content: .mapping(mapping))
    }
}

// MARK: Apps

extension NodeReader {
    fileprivate func apps(_ files: NamedFiles?) -> [ServedAppConfiguration] {
        let apps = entries { entry -> ServedAppConfiguration? in
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
            return entry.value.mapping { ServedAppConfiguration(id: id, reading: $0, files) }
        }
        return apps.compactMap { $0 }
    }
}

extension ServedAppConfiguration {
    fileprivate init(id: AppID, reading keys: MappingReader, _ files: NamedFiles?) {
        let isDevelopmentMode = keys.optional("development_mode", default: false) { $0.bool() }
        var schema: RealmSchema?
        let schemaFile = keys.optional("schema") { node in
            let path = node.absolutePath()
            if let path { schema = files?.checkSchema(path, at: node) }
            return path
        }
        let sync = keys.section("sync") { SyncSettings(reading: $0) }
        let rules = keys.optional("rules", default: .none) { RolesReading(reading: $0) }
        let sink = keys.optional("asymmetric") { node in
            node.mapping { AsymmetricSinkConfiguration(reading: $0, files) }
        }
        let flexible = FlexibleSyncConfiguration(
            sync,
            rules,
            sink,
            keys,
            schema,
            acceptsNewClasses: isDevelopmentMode
        )
        let access = keys.section("access") { AccessReading(reading: $0, files) }
        let offlineLimit = keys.optional("offline_limit", default: Self.usualOfflineLimit) {
            $0.duration(in: .zero...(.seconds(3650 * 86_400)))
        }
        self.init(
            id: id,
            partitionType: sync.partitionType,
            partitionKey: sync.partitionKey?.name,
            isDevelopmentMode: isDevelopmentMode,
            isSDKSafe: keys.optional("sdk_safety", default: false) { $0.bool() },
            allowsClientRecovery: keys.optional("client_recovery", default: true) { $0.bool() },
            anonymous: false,
            emailPassword: nil,
            customUserData: keys.optional("custom_user_data") { node in
                node.mapping {
                    CustomUserDataConfiguration(reading: $0, isFlexible: flexible != nil)
                }
            },
            tokens: keys.section("tokens") { TokenLifetimes(reading: $0) },
            access: access.rules,
            accessProgram: access.program,
            flexible: flexible,
            quotas: keys.section("quotas") { UserQuotas(reading: $0) },
            schemaFile: schemaFile,
            offlineLimit: offlineLimit > .zero ? offlineLimit : nil,
            views: keys.optional("sql", default: .usual) { $0.viewPlace() }
        )
        if customUserData == nil,
            [access.rules.read, access.rules.write].contains(where: { $0?.needsCustomData == true })
        {
            keys.report(
                "access",
                .conflict,
                "names user.custom_data, and the app has none",
                remedy: "add custom_user_data"
            )
        }
        let providers = keys.section("providers") { ProviderSettings(reading: $0, files) }
        self.anonymous = providers.anonymous
        self.emailPassword = providers.emailPassword
        self.apiKey = providers.apiKey
        self.jwt = providers.jwt
        self.function = providers.function
    }
}

extension ServedAppConfiguration {
    /// Reads an app that was declared on the admin socket.
    package init(id: AppID, declaration: String) throws(BadDeclaration) {
        let (configuration, diagnostics) = ServerConfigurationReader.app(id, declaration)
        guard let configuration else { throw BadDeclaration(diagnostics: diagnostics) }
        self = configuration
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
            },
            reset: keys.optional("reset", default: standard.reset) {
                $0.seconds(in: .seconds(60)...(.seconds(30 * 86_400)))
            }
        )
    }
}

extension NodeReader {
    fileprivate func seconds(in range: ClosedRange<Duration>) -> Int64? {
        duration(in: range).map(\.components.seconds)
    }
}
