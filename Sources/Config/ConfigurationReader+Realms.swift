import SchemaFiles
import Settings
import YAML

extension ConfigurationReader {
    /// A realm with the place to complain about when its file is taken.
    struct LocatedRealm {
        let configuration: RealmConfiguration
        let pathReader: NodeReader
    }

    func readRealm(
        _ entry: NodeReader.Entry,
        users: Declarations<UserConfiguration>,
        dataDirectory: String
    ) -> LocatedRealm? {
        entry.value.mapping { keys in
            keys.notYetSupported(
                "subscriptions",
                "open",
                "client_reset",
                "on_error",
                "schedule",
                "read_only",
                "seed",
                "counters",
                "links",
                "run_on_remote",
                "shutdown_upload_timeout",
                "rerun_subscriptions_on_open"
            )
            let user = keys.required("user") { users.resolve($0, section: "users") }
            let templates = TemplateReader(surroundings, user: user)
            // A realm with subscriptions has been told that they are not supported yet.
            let partition =
                keys.contains("subscriptions")
                ? keys.optional("partition") { PartitionSetting.read($0, templates: templates) }
                : keys.required("partition") { PartitionSetting.read($0, templates: templates) }
            var pathReader = entry.value
            let path = keys.optional(
                "path",
                default: "\(dataDirectory)/realms/\(entry.name)/\(entry.name).sqlite"
            ) { reader in
                pathReader = reader
                return readPath(reader, templates: templates)
            }
            let schema = keys.optional("schema", readSchema)
            let isEnabled = keys.optional("enabled", default: true) { $0.bool() }
            let capture = keys.section("capture", readCapture)
            guard let user, let partition else { return nil }
            let configuration = RealmConfiguration(
                name: entry.name,
                user: user,
                partition: partition,
                schema: schema,
                path: path,
                isEnabled: isEnabled,
                capture: capture
            )
            return LocatedRealm(configuration: configuration, pathReader: pathReader)
        }
    }

    private func readPath(_ reader: NodeReader, templates: TemplateReader) -> String? {
        guard let text = reader.string(),
            let template = templates.resolve(text, at: reader)
        else { return nil }
        guard let fixed = template.fixedText else {
            reader.report(
                .unsupported,
                "${user.id} in a path is not supported yet by this version",
                remedy: "use the name of the realm or ${user.email}"
            )
            return nil
        }
        return reader.absolutePath(of: fixed)
    }

    private func readCapture(_ keys: MappingReader) -> CaptureConfiguration {
        let standard = CaptureConfiguration()
        return CaptureConfiguration(
            delay: keys.optional("delay", default: standard.delay) {
                $0.duration(in: .zero ... .seconds(10))
            },
            splitGap: keys.optional("split_gap", default: standard.splitGap) {
                $0.duration(in: .milliseconds(100) ... .seconds(86_400))
            }
        )
    }

    private func readSchema(_ reader: NodeReader) -> SchemaDeclaration? {
        guard case .scalar = reader.node.content else { return SchemaFile.read(reader) }
        guard let path = reader.absolutePath() else { return nil }
        if let known = schemaFiles[path] { return known }
        var declaration: SchemaDeclaration?
        switch surroundings.readFile(path) {
        case .success(let bytes):
            declaration = reader.diagnostics.parse(bytes, file: path).flatMap {
                SchemaFile.read(NodeReader($0, diagnostics: reader.diagnostics))
            }
        case .failure(let failure):
            reader.report(
                .unreadable,
                "cannot read \(quoted(path)): \(failure.reason)",
                remedy: "make it readable for the agent, or correct the path"
            )
        }
        schemaFiles[path] = .some(declaration)
        return declaration
    }

    func checkPaths(of realms: [LocatedRealm]) {
        var owners: [String: String] = [:]
        for realm in realms {
            let (name, path) = (realm.configuration.name, realm.configuration.path)
            if let owner = owners[path] {
                realm.pathReader.report(
                    .conflict,
                    "\(quoted(path)) is the file of realm \"\(owner)\" already",
                    remedy: "give each realm a file of its own"
                )
            }
            owners[path] = owners[path] ?? name
        }
    }
}
