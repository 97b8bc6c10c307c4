import SchemaFiles
import Settings

/// A realm with the place to complain about when its file is taken.
struct LocatedRealm {
    let configuration: RealmConfiguration
    let pathReader: NodeReader
}

/// Reads an entry of `realms`.
struct RealmReader {
    let inputs: ConfigurationInputs
    let users: Declarations<UserConfiguration>
    let handlers: HandlerReader
    let schemas: SchemaSettingReader
    let dataDirectory: String

    func read(_ entry: NodeReader.Entry) -> LocatedRealm? {
        entry.value.mapping { keys in
            let user = keys.required("user") { users.resolve($0, section: "users") }
            let templates = TemplateReader(inputs, user: user)
            let subscriptionReader = SubscriptionReader(templates: templates)
            var subscriptions: [LocatedSubscription] = []
            let scope = readScope(keys, templates, subscriptionReader) { subscriptions = $0 }
            var pathReader = entry.value
            let usual = "\(dataDirectory)/realms/\(entry.name)/\(entry.name).sqlite"
            let path = keys.optional("path", default: FilePath(text: usual)) { reader in
                pathReader = reader
                return readPath(reader, templates: templates)
            }
            let schema = keys.optional("schema", schemas.read)
            if let schema { subscriptionReader.check(subscriptions, in: schema.schema) }
            let isEnabled = keys.optional("enabled", default: true) { $0.bool() }
            let isReadOnly = keys.optional("read_only", default: false) { $0.bool() }
            let capture = keys.section("capture", readCapture)
            let opening = keys.section("open", readOpening)
            let clientReset = keys.section("client_reset", handlers.readClientReset)
            let errorHandlers = keys.optional("on_error", default: [], handlers.read)
            let schedule = keys.section("schedule") {
                ScheduleReader(inputs: inputs).read($0, of: user?.app)
            }
            let seed = keys.optional("seed") { $0.absolutePath() }
            let counters = keys.optional("counters", default: []) { $0.elements(readProperty) }
            let requiresLinkTargets = keys.section("links") { links in
                links.optional("require_target", default: false) { $0.bool() }
            }
            let triggers = keys.optional("run_on_remote", default: []) { $0.strings() }
            let shutdownTimeout = keys.optional(
                "shutdown_upload_timeout",
                default: .seconds(10)
            ) { $0.duration(in: .zero ... .seconds(600)) }
            let rerunsSubscriptions = keys.optional(
                "rerun_subscriptions_on_open",
                default: false
            ) { $0.bool() }
            guard let user, let scope else { return nil }
            let configuration = RealmConfiguration(
                name: entry.name,
                user: user,
                scope: scope,
                schema: schema,
                path: path.text,
                pathOfUser: path.ofUser,
                isEnabled: isEnabled,
                isReadOnly: isReadOnly,
                capture: capture,
                opening: opening,
                clientReset: clientReset,
                errorHandlers: errorHandlers,
                schedule: schedule,
                seed: seed,
                counters: counters,
                requiresLinkTargets: requiresLinkTargets,
                triggersOnRemoteChanges: triggers,
                shutdownUploadTimeout: shutdownTimeout,
                rerunsSubscriptions: rerunsSubscriptions
            )
            return LocatedRealm(configuration: configuration, pathReader: pathReader)
        }
    }

    // MARK: Scope

    private func readScope(
        _ keys: MappingReader,
        _ templates: TemplateReader,
        _ subscriptions: SubscriptionReader,
        _ located: ([LocatedSubscription]) -> Void
    ) -> RealmConfiguration.Scope? {
        keys.exactlyOneBesideOthers(
            of: ["partition", "subscriptions"],
            remedy: "give the one for partition-based sync, or the other for flexible sync"
        ) { key, reader in
            guard key == "subscriptions" else {
                return PartitionSetting.read(reader, templates: templates).map { .partition($0) }
            }
            return subscriptions.read(reader).map { subscriptions in
                located(subscriptions)
                return .subscriptions(subscriptions.map(\.configuration))
            }
        }
    }

    // MARK: Its file

    private struct FilePath {
        let text: String
        var ofUser: UserTemplate?
    }

    private func readPath(_ reader: NodeReader, templates: TemplateReader) -> FilePath? {
        guard let text = reader.string(),
            let template = templates.resolve(text, at: reader)
        else { return nil }
        if let fixed = template.fixedText {
            return reader.absolutePath(of: fixed).map { FilePath(text: $0) }
        }
        // Ids have no "/" and no ".": with any of them the path is as good as with this.
        let placeholder = "${user.id}"
        // No text holds it, while one may hold the placeholder.
        let mark: Character = "\u{10FFFF}"
        guard let text = reader.absolutePath(of: template.text(userID: placeholder)),
            let path = reader.absolutePath(of: template.text(userID: String(mark)))
        else { return nil }
        return FilePath(
            text: text,
            ofUser: UserTemplate(path, marking: mark)
        )
    }

    /// No two realms may have the same file.
    static func checkPaths(of realms: [LocatedRealm]) {
        struct File: Hashable {
            let path: String
            /// Nil unless the path has the user's id.
            let user: String?
        }
        var owners: [File: String] = [:]
        for realm in realms {
            let (name, path) = (realm.configuration.name, realm.configuration.path)
            let isOfUser = realm.configuration.pathOfUser != nil
            let file = File(path: path, user: isOfUser ? realm.configuration.user.name : nil)
            if let owner = owners[file] {
                realm.pathReader.report(
                    .conflict,
                    "\(quoted(path)) is the file of realm \"\(owner)\" already",
                    remedy: "give each realm a file of its own"
                )
            }
            owners[file] = owners[file] ?? name
        }
    }

    // MARK: How it is kept

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

    private func readOpening(_ keys: MappingReader) -> OpenConfiguration {
        OpenConfiguration(
            download: keys.optional("download", default: .never) { $0.choice() },
            timeout: keys.optional("timeout") {
                $0.duration(in: .seconds(1) ... .seconds(86_400))
            }
        )
    }

    private func readProperty(_ reader: NodeReader) -> PropertyReference? {
        let text = reader.string(
            matching: { text in
                let parts = text.split(separator: ".", omittingEmptySubsequences: false)
                return parts.count == 2 && parts.allSatisfy { !$0.isEmpty }
            },
            expected: "a property as Class.property"
        )
        let parts = text?.split(separator: ".").map(String.init)
        return parts.map { PropertyReference(className: $0[0], property: $0[1]) }
    }
}
