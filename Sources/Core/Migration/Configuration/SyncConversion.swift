import BSON
import Changesets
import Scopes

/// The settings of sync of an export, for this server (moving an app, 3).
struct SyncImportSettings {
    /// Nil: flexible sync.
    var partition: CollectionMap.PartitionField?
    var isDevelopmentMode = false
    /// Days; 0: no limit.
    var offlineDays: Int64 = 0
    var allowsRecovery = true
    /// Fields for all classes, and those of classes by title or collection.
    var commonFields: [String] = []
    var fields: [String: [String]] = [:]
    var indexedField: String?
    /// The file of the settings, for reports.
    var file = ""
    /// The JSON path of `partition.permissions` or `permissions`, and its content.
    var permissions: JSONTree?
}

enum SyncConversion {
    static func run(
        _ app: ExportedApp,
        _ options: AppImportOptions
    ) -> (settings: SyncImportSettings?, findings: ImportFindings) {
        var findings = ImportFindings()
        guard let sync = app.sync, case let content = sync.content,
            let kind = kind(of: content, options)
        else {
            findings.add(
                ImportFinding(
                    .fatal,
                    "import.no_sync",
                    in: app.sync?.path ?? "",
                    "",
                    "the app never synced",
                    remedy: "name the export of an app that synced"
                )
            )
            return (nil, findings)
        }
        var settings = SyncImportSettings(file: sync.path)
        report(content["state"], sync.path, &findings)
        let development =
            content["development_mode_enabled"] ?? app.rootSync?["development_mode_enabled"]
        settings.isDevelopmentMode = development?.bool ?? false
        if settings.isDevelopmentMode {
            findings.add(
                ImportFinding(
                    .warning,
                    "import.development_mode",
                    in: sync.path,
                    "development_mode_enabled",
                    "clients may add classes and properties",
                    remedy: "set development_mode: false once the schema is complete"
                )
            )
        }
        if case .number(let text)? = content["client_max_offline_days"], let days = Int64(text) {
            settings.offlineDays = min(max(days, 0), 3650)
        }
        settings.allowsRecovery = content["is_recovery_mode_disabled"]?.bool != true
        if !settings.allowsRecovery {
            findings.add(
                ImportFinding(
                    .warning,
                    "import.no_recovery",
                    in: sync.path,
                    "is_recovery_mode_disabled",
                    "clients lose unsent writes at their first contact",
                    remedy: "set client_recovery: true until all devices have connected"
                )
            )
        }
        switch kind {
        case .partition:
            settings.permissions = content["partition"]?["permissions"]
            guard let partition = partition(content["partition"], options, sync.path, &findings)
            else { return (settings, findings) }
            settings.partition = partition
        case .flexible:
            settings.permissions = content["permissions"]
            settings.commonFields = texts(content["queryable_fields_names"])
            for member in content["collection_queryable_fields_names"]?.members ?? [] {
                settings.fields[member.name.description] = texts(member.value)
            }
            settings.indexedField = texts(content["indexed_queryable_fields_names"]).first
        }
        return (settings, findings)
    }

    private static func kind(
        of content: JSONTree,
        _ options: AppImportOptions
    ) -> AppImportOptions.SyncKind? {
        if let mode = options.mode { return mode }
        switch content["type"]?.text {
        case "partition"?: return .partition
        case "flexible"?: return .flexible
        default:
            return content["partition"]?["key"] == nil ? nil : .partition
        }
    }

    private static func texts(_ tree: JSONTree?) -> [String] {
        (tree?.elements ?? []).compactMap(\.text)
    }

    private static func report(
        _ state: JSONTree?,
        _ file: String,
        _ findings: inout ImportFindings
    ) {
        switch state {
        case .string(let text)? where text == "enabled": return
        case .bool(true)?, nil: return
        case .string(let text)? where text == "":
            findings.add(
                ImportFinding(
                    .warning,
                    "import.sync_off",
                    in: file,
                    "state",
                    "sync was not enabled",
                    remedy: "check that this is the right app"
                )
            )
        default:
            findings.add(
                ImportFinding(
                    .warning,
                    "import.sync_paused",
                    in: file,
                    "state",
                    "sync was disabled",
                    remedy: "run realm-server sync pause if clients must not connect yet"
                )
            )
        }
    }

    private static func partition(
        _ content: JSONTree?,
        _ options: AppImportOptions,
        _ file: String,
        _ findings: inout ImportFindings
    ) -> CollectionMap.PartitionField? {
        let words: [String: Partition.Kind] = [
            "string": .string, "objectId": .objectID, "object_id": .objectID, "uuid": .uuid,
            "long": .int, "int": .int,
        ]
        let key = options.partitionKey ?? content?["key"]?.text
        let word = options.partitionType ?? content?["type"]?.text
        guard let key, !key.isEmpty, let type = word.flatMap({ words[$0] }) else {
            findings.add(
                ImportFinding(
                    .fatal,
                    "import.bad_partition",
                    in: file,
                    "partition.type",
                    "the partition key \(key ?? "is missing") has type \(word ?? "none")",
                    remedy:
                        "give --partition-key and --partition-type string, objectId, uuid or long"
                )
            )
            return nil
        }
        return CollectionMap.PartitionField(
            name: Text(key),
            type: type,
            isRequired: content?["required"]?.bool ?? false
        )
    }
}
