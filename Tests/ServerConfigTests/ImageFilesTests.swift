import FoundationEssentials
import JSON
import ServerConfig
import Settings
import Testing
import YAML

/// The files for containers in `packaging/images`: they are valid, agree with each other, and have what
/// the images rely on.
@Suite("Files for containers")
struct ImageFilesTests {
    private static func bytes(of path: String) throws -> [UInt8] {
        let root = URL(filePath: #filePath).deletingLastPathComponent()
            .deletingLastPathComponent().deletingLastPathComponent()
        return Array(try Data(contentsOf: root.appending(path: "packaging/images/\(path)")))
    }

    /// The documents of a file, which `---` separates.
    private static func documents(of path: String) throws -> [YAMLNode] {
        try String(decoding: bytes(of: path), as: UTF8.self).split(separator: "\n---\n")
            .compactMap { try YAMLNode.parse(Array($0.utf8), file: path) }
    }

    private static func configuration(_ drop: [UInt8]) throws -> ServerConfiguration? {
        let (configuration, diagnostics) = ServerConfigurationReader.read([
            ConfigurationSource(file: "image", bytes: try bytes(of: "realm-server.yaml")),
            ConfigurationSource(file: "drop-in", bytes: drop),
        ])
        // The examples' database is in the same network as the server, without TLS.
        let others = diagnostics.map(\.description).filter {
            !$0.contains("set tls to verify-full")
        }
        #expect(others == [])
        return configuration
    }

    private static func image(_ program: String) throws -> JSONValue {
        try JSONDecoder().decode(JSONValue.self, from: Data(bytes(of: "\(program).json")))
    }

    @Test("The image's configuration serves every address, and its directories are volumes")
    func image() throws {
        let configuration = try #require(try Self.configuration(Array("apps: {}".utf8)))
        #expect(configuration.listen.host == "0.0.0.0")
        #expect(configuration.metricsAddress?.port == 9465)
        let text = String(decoding: try Self.bytes(of: "realm-server.json"), as: UTF8.self)
        for place in ["/var/lib/realm-server", "/run/realm-server", "/tmp"] {
            #expect(text.contains("\"\(place)\": {}"), "\(place)")
        }
        for port in [configuration.listen.port, configuration.metricsAddress?.port ?? 0] {
            #expect(text.contains("\"\(port)/tcp\": {}"), "\(port)")
        }
        for program in ["realm-server", "realm-agent"] {
            let text = String(decoding: try Self.bytes(of: "\(program).json"), as: UTF8.self)
            _ = try Self.image(program)
            #expect(text.firstMatch(of: #/"User": "(\d+):\1"/#) != nil, "\(program)")
            #expect(text.contains("\"Entrypoint\": [\"/usr/bin/\(program)\"]"))
            #expect(text.contains("\"Healthcheck\""))
        }
    }

    @Test("The compose file runs the server as the image does, with its store in the database")
    func compose() throws {
        let file = try #require(try Self.documents(of: "compose/compose.yaml").first)
        let server = try #require(file["services", "server"])
        let database = try #require(file["services", "database"])
        #expect(server["user"]?.text == "10001:10001")
        #expect(server["read_only"]?.text == "true")
        #expect(server["cap_drop"]?.texts == ["ALL"])
        #expect(server["healthcheck", "test"]?.texts == ["CMD", "realm-server", "health"])
        #expect(server["depends_on", "database", "condition"]?.text == "service_healthy")
        #expect(server["volumes"]?.texts == ["./realm-server.d:/etc/realm-server.d:ro"])
        #expect(server["ports"]?.texts.contains("9090:9090") == true)
        let places = server["tmpfs"]?.texts.map { String($0.prefix { $0 != ":" }) }
        #expect(places == ["/run/realm-server", "/var/lib/realm-server", "/tmp"])
        let drop = try Self.bytes(of: "compose/realm-server.d/10-store.yaml")
        try Self.expectStore(try Self.configuration(drop), at: "database", of: [database, server])
    }

    @Test("The Kubernetes example runs it without rights, with probes, and the same database")
    func kubernetes() throws {
        let all = try Self.documents(of: "kubernetes/realm-server.yaml")
        func find(_ kind: String, _ name: String) throws -> YAMLNode {
            try #require(
                all.first { $0["kind"]?.text == kind && $0["metadata", "name"]?.text == name },
                "\(kind) \(name)"
            )
        }
        let template = try #require(try find("Deployment", "realm-server")["spec", "template"])
        let pod = try #require(template["spec", "securityContext"])
        #expect(pod["runAsNonRoot"]?.text == "true")
        #expect(pod["runAsUser"]?.text == "10001")
        let server = try #require(template["spec", "containers"]?.elements.first)
        let rights = try #require(server["securityContext"])
        #expect(rights["readOnlyRootFilesystem"]?.text == "true")
        #expect(rights["allowPrivilegeEscalation"]?.text == "false")
        #expect(rights["capabilities", "drop"]?.texts == ["ALL"])
        #expect(server["readinessProbe", "httpGet", "path"]?.text == "/readyz")
        #expect(server["livenessProbe", "httpGet", "path"]?.text == "/healthz")
        let ports = server["ports"]?.elements.compactMap { $0["containerPort"]?.text }
        #expect(ports == ["9090", "9465"])
        // Every mounted volume exists.
        let volumes = Set(
            template["spec", "volumes"]?.elements.compactMap { $0["name"]?.text } ?? []
        )
        let mounts = server["volumeMounts"]?.elements ?? []
        #expect(Set(mounts.compactMap { $0["name"]?.text }) == volumes)
        #expect(
            Set(mounts.compactMap { $0["mountPath"]?.text }) == [
                "/etc/realm-server.d", "/run/realm-server", "/var/lib/realm-server", "/tmp",
            ]
        )
        let map = try find("ConfigMap", "realm-server")
        let drop = try #require(map["data", "10-store.yaml"]?.text)
        let set = try find("StatefulSet", "realm-database")
        let database = try #require(
            set["spec", "template", "spec", "containers"]?.elements.first
        )
        _ = try find("Service", "realm-database")
        _ = try find("Secret", "realm-database")
        try Self.expectStore(
            try Self.configuration(Array(drop.utf8)),
            at: "realm-database",
            of: [database, server]
        )
    }

    /// The server's database, role and host are those that the other container makes, and the password
    /// comes from the environment.
    private static func expectStore(
        _ configuration: ServerConfiguration?,
        at host: String,
        of containers: [YAMLNode]
    ) throws {
        guard case .postgreSQL(let location) = configuration?.storage else {
            Issue.record("the store is not on PostgreSQL")
            return
        }
        #expect(location.hosts.map { "\($0)" } == ["\(host):5432"])
        let texts = containers[0].allTexts
        #expect(texts.contains(location.database) && texts.contains(location.user))
        #expect(containers[1].allTexts.contains("DATABASE_PASSWORD"))
        #expect(configuration?.apps.isEmpty == false)
    }
}

extension YAMLNode {
    fileprivate subscript(path: String...) -> YAMLNode? {
        path.reduce(Optional(self)) { node, key in
            guard case .mapping(let mapping) = node?.content else { return nil }
            return mapping[key]?.value
        }
    }

    fileprivate var text: String? {
        guard case .scalar(let scalar) = content else { return nil }
        return scalar.text
    }

    fileprivate var elements: [YAMLNode] {
        guard case .sequence(let elements) = content else { return [] }
        return elements
    }

    fileprivate var texts: [String] { elements.compactMap(\.text) }

    /// Every key and scalar.
    fileprivate var allTexts: [String] {
        switch content {
        case .scalar(let scalar): [scalar.text]
        case .sequence(let elements): elements.flatMap(\.allTexts)
        case .mapping(let mapping): mapping.entries.flatMap { [$0.key] + $0.value.allTexts }
        }
    }
}
