import BSON
import Changesets
import Schemas
import Scopes

/// Writes the drop-in of an imported app (moving an app, 3 to 5).
struct AppConfigurationWriter {
    let app: ExportedApp
    let appID: String
    let settings: SyncImportSettings
    let schema: ImportedSchema
    let custom: ImportedCustomUserData
    let options: AppImportOptions
    private(set) var findings = ImportFindings()
    private(set) var stubs: [String: String] = [:]

    init(
        app: ExportedApp,
        appID: String,
        settings: SyncImportSettings,
        schema: ImportedSchema,
        custom: ImportedCustomUserData,
        options: AppImportOptions
    ) {
        self.app = app
        self.appID = appID
        self.settings = settings
        self.schema = schema
        self.custom = custom
        self.options = options
    }

    private var reader: RuleExpressionReader {
        RuleExpressionReader(
            constants: RuleConstants(
                values: app.values,
                environment: app.environmentValues,
                environmentTag: app.environmentTag
            )
        )
    }

    private var user: KnownUserData { KnownUserData(custom: custom.knowledge) }

    mutating func text() -> String {
        var text = ConfigurationText()
        text.line("# Written by realm-server import app; see report.txt.")
        text.line("version: 1")
        text.section("apps") { text in
            text.section(ConfigurationText.quoted(appID)) { text in write(to: &text) }
        }
        return text.text
    }

    private mutating func write(to text: inout ConfigurationText) {
        writeSync(to: &text)
        text.line("development_mode: \(settings.isDevelopmentMode)")
        text.line("offline_limit: \(settings.offlineDays == 0 ? "0s" : "\(settings.offlineDays)d")")
        text.line("client_recovery: \(settings.allowsRecovery)")
        text.line("schema: /etc/realm-server.d/schemas/\(appID).yaml")
        var providers = ProviderConversion(appID: appID, functions: app.functions)
        providers.write(app.providers, to: &text)
        findings.add(providers.findings.all)
        stubs = providers.stubs
        if settings.partition != nil {
            writeAccess(to: &text)
        } else {
            writeRoles(to: &text)
        }
        if let name = custom.className, let field = custom.field {
            let partition = custom.partition.map {
                "partition: \(ConfigurationText.quoted($0)), "
            }
            let isClosed = custom.isClosed && settings.partition != nil
            text.line(
                "custom_user_data: { class: \(ConfigurationText.quoted(name)), "
                    + (isClosed ? "closed: true, " : partition ?? "")
                    + "user_id_field: \(ConfigurationText.quoted(field)) }"
            )
        }
    }

    // MARK: Sync

    private mutating func writeSync(to text: inout ConfigurationText) {
        if let partition = settings.partition {
            let key = ConfigurationText.quoted(partition.name.description)
            text.line(
                "sync: { mode: partition, partition_key: \(key), "
                    + "partition_type: \(partition.type.rawValue) }"
            )
            return
        }
        text.section("sync") { text in
            text.line("mode: flexible")
            let fields = queryableFields()
            if !fields.isEmpty {
                text.section("queryable_fields") { text in
                    for (name, names) in fields where !names.isEmpty {
                        text.line(
                            "\(ConfigurationText.quoted(name)): \(ConfigurationText.list(names))"
                        )
                    }
                }
            }
            if let field = settings.indexedField {
                for owner in topLevelClasses where owner.position(of: Text(field)) == nil {
                    warn(
                        "import.indexed_field",
                        "indexed_queryable_fields_names \(field)",
                        "\(owner.name) does not have it",
                        remedy: "its subscriptions need not compare it"
                    )
                }
                if fields.contains(where: { $0.names.contains(field) }) {
                    text.line("indexed_field: \(ConfigurationText.quoted(field))")
                }
            }
        }
    }

    private var topLevelClasses: [ClassSchema] {
        schema.schema.classes.filter { !$0.isEmbedded }
    }

    /// The fields of each class that can be queried here, without the primary key.
    private mutating func queryableFields() -> [(name: String, names: [String])] {
        var known: Set<String> = []
        let lists = topLevelClasses.map { owner -> (name: String, names: [String]) in
            let collection = schema.collection(of: owner.name).map {
                String($0.drop { $0 != "." }.dropFirst())
            }
            let title = owner.name.description
            let own =
                (settings.fields[title] ?? [])
                + (collection.flatMap { collection in
                    collection == title ? nil : settings.fields[collection]
                } ?? [])
            known.formUnion([title, collection ?? title])
            var names: [String] = []
            for name in settings.commonFields + own where !names.contains(name) && name != "_id" {
                guard let property = owner.property(named: Text(name)) else {
                    if own.contains(name) {
                        warn(
                            "import.unknown_name",
                            "collection_queryable_fields_names \(title).\(name)",
                            "the class has no such property",
                            remedy: "none is needed"
                        )
                    }
                    continue
                }
                guard property.canBeQueried else {
                    warn(
                        "import.not_queryable",
                        "\(title).\(name)",
                        "links, dictionaries and embedded objects cannot be queried here",
                        remedy: "query another field"
                    )
                    continue
                }
                names.append(name)
            }
            return (title, names)
        }
        for name in settings.fields.keys.sorted() where !known.contains(name) {
            warn(
                "import.unknown_name",
                "collection_queryable_fields_names \(name)",
                "no class or collection has this name",
                remedy: "none is needed"
            )
        }
        for name in settings.commonFields where name != "_id" {
            let isKnown = topLevelClasses.contains { $0.position(of: Text(name)) != nil }
            guard !isKnown else { continue }
            warn(
                "import.unknown_name",
                "queryable_fields_names \(name)",
                "no class has such a property",
                remedy: "none is needed"
            )
        }
        return lists
    }

    private mutating func warn(
        _ code: String,
        _ place: String,
        _ problem: String,
        remedy: String
    ) {
        findings.add(
            ImportFinding(.warning, code, in: settings.file, place, problem, remedy: remedy)
        )
    }

    // MARK: Access to partitions

    private mutating func writeAccess(to text: inout ConfigurationText) {
        let kind = settings.partition.flatMap { Partition.Kind(rawValue: $0.type.rawValue) }
        let rules = PartitionRules(kind: kind ?? .string, user: user, reader: reader)
        let read = rules.translate(
            settings.permissions?["read"],
            path: "partition.permissions.read"
        )
        let write = rules.translate(
            settings.permissions?["write"],
            path: "partition.permissions.write"
        )
        for reason in read.reasons + write.reasons {
            let isAbsent = reason.code == "import.rule_absent"
            findings.add(
                ImportFinding(
                    reason.isExact ? .note : isAbsent ? .warning : .error,
                    reason.code,
                    in: settings.file,
                    reason.path,
                    reason.problem
                        + (reason.isExact || isAbsent ? "" : "; this part allows less than before"),
                    remedy: reason.isExact || isAbsent
                        ? "none is needed"
                        : "write a rule, see the manual, Rules, or a program with access.command"
                )
            )
        }
        text.section("access") { text in
            let both = PartitionRules.read(read, orWrite: write)
            text.line("read: \(ConfigurationText.quoted(rule: both))")
            text.line("write: \(ConfigurationText.quoted(rule: write.text))")
        }
        let withRules = app.collections.filter {
            $0.rules?.content["roles"]?.elements?.isEmpty == false
        }
        guard !withRules.isEmpty else { return }
        findings.add(
            ImportFinding(
                .note,
                "import.rules_without_effect",
                withRules.map(\.path).joined(separator: ", "),
                "partition-based sync never used rules of collections",
                remedy: "none is needed"
            )
        )
    }

    // MARK: Roles

    private mutating func writeRoles(to text: inout ConfigurationText) {
        let fields = Dictionary(queryableFields().map { ($0.name, $0.names) }) { first, _ in first }
        guard let source = RoleSource(app, settings, options, &findings) else { return }
        text.section("rules") { text in
            for owner in topLevelClasses {
                let isClosed = custom.isClosed && custom.className == owner.name.description
                let list = isClosed ? .none : source.roles(of: owner, schema)
                let names = (fields[owner.name.description] ?? []) + ["_id"]
                var conversion = RoleConversion(
                    owner: owner,
                    queryable: Set(names.map { Text($0) }),
                    user: user,
                    reader: reader,
                    file: list.file
                )
                let roles = conversion.roles(list.trees, path: list.path)
                findings.add(conversion.findings.all)
                let key = ConfigurationText.quoted(owner.name.description)
                guard !roles.isEmpty else {
                    text.line("\(key): []")
                    continue
                }
                text.section(key) { text in
                    for role in roles { text.write(role) }
                }
            }
        }
    }
}

extension ConfigurationText {
    /// Rules are quoted, but for the two words.
    static func quoted(rule: String) -> String {
        rule == "true" || rule == "false" ? "\"\(rule)\"" : quoted(rule)
    }

    fileprivate mutating func write(_ role: ImportedRole) {
        line("- name: \(Self.quoted(role.name))")
        func permission(_ text: String) -> String {
            text == "true" || text == "false" ? text : Self.quoted(text)
        }
        if let rule = role.applyWhen { line("  apply_when: \(Self.quoted(rule: rule))") }
        line("  read: \(permission(role.read))")
        line("  write: \(permission(role.write))")
        if let insert = role.insert { line("  insert: \(permission(insert))") }
        if let delete = role.delete { line("  delete: \(permission(delete))") }
        if !role.fields.isEmpty {
            line("  fields:")
            for field in role.fields {
                line(
                    "    \(Self.quoted(field.name)): { read: \(field.read), write: \(field.write) }"
                )
            }
        }
        if let others = role.otherFields {
            line("  additional_fields: { read: \(others.read), write: \(others.write) }")
        }
    }
}

extension PropertySchema {
    fileprivate var canBeQueried: Bool {
        if case .link = type { return false }
        return collection != .dictionary
    }
}
