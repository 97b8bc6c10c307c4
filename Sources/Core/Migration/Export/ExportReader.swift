import BSON
import Changesets

/// Reads an export of any layout (moving an app, 1.1). Reports everything that is not JSON.
struct ExportReader {
    private let files: ExportFiles
    private(set) var findings = ImportFindings()
    private var environment: [String: JSONTree] = [:]

    init(_ files: ExportFiles) {
        self.files = files
    }

    private static let rootFiles = [
        "realm_config.json", "root_config.json", "config.json", "stitch.json",
    ]

    /// Nil, and reported, unless the root of the files is one export.
    mutating func read() -> ExportedApp? {
        if let root = Self.rootFiles.dropLast().first(where: isRoot) {
            let file = parse(root)
            readEnvironment(named: file?.content["environment"]?.text)
            var app = ExportedApp(layout: root == "config.json" ? .services : .dataSources)
            readRoot(root, file?.content, into: &app)
            switch app.layout {
            case .services: readServices(file, into: &app)
            case .dataSources: readDataSources(into: &app)
            }
            readCommon(into: &app)
            return app
        }
        if files.has("stitch.json") {
            findings.add(
                ImportFinding(
                    .fatal,
                    "import.no_sync",
                    in: "stitch.json",
                    "",
                    "an export of this age is from before Device Sync",
                    remedy: "name the export of an app that synced"
                )
            )
            return nil
        }
        reportNoExport()
        return nil
    }

    /// `config.json` is also the name of other files: only one with a version is a root.
    private func isRoot(_ name: String) -> Bool {
        guard let bytes = files.bytes(name) else { return false }
        guard name == "config.json" else { return true }
        guard let tree = try? JSONTree(parsing: bytes) else { return true }
        return tree["config_version"] != nil
    }

    private mutating func reportNoExport() {
        let folders = Set(
            files.paths.compactMap { path -> String? in
                guard let end = path.lastIndex(of: "/"),
                    Self.rootFiles.contains(String(path[path.index(after: end)...]))
                else { return nil }
                let name = path[path.index(after: end)...]
                let folder = String(path[..<end])
                return name == "config.json" && !files.has("\(folder)/config.json")
                    || (name == "config.json" && folder.contains("/")) ? nil : folder
            }
        ).sorted()
        findings.add(
            ImportFinding(
                .fatal,
                "import.not_an_export",
                "",
                folders.isEmpty
                    ? "there is no realm_config.json, root_config.json or config.json"
                    : "the exports are in subdirectories: \(folders.joined(separator: ", "))",
                remedy: folders.isEmpty
                    ? "name the directory that the hosted service exported"
                    : "name one of them"
            )
        )
    }

    // MARK: Files

    /// The content with the environment's values; nil if the file is missing or not JSON.
    private mutating func parse(_ path: String) -> ExportedFile? {
        guard let bytes = files.bytes(path) else { return nil }
        do throws(JSONTreeError) {
            return ExportedFile(path: path, content: filled(try JSONTree(parsing: bytes)))
        } catch {
            let position = error.position(in: bytes)
            findings.add(
                ImportFinding(
                    .fatal,
                    "import.syntax",
                    in: path,
                    line: position.line,
                    "column \(position.column)",
                    "is not JSON: \(error)",
                    remedy: "export the app again, or repair the file"
                )
            )
            return nil
        }
    }

    /// Replaces `%(%%environment.values.X)` inside strings.
    private func filled(_ tree: JSONTree) -> JSONTree {
        guard !environment.isEmpty else { return tree }
        switch tree {
        case .string(let text):
            guard var string = text.string, string.contains("%(%%environment.values.") else {
                return tree
            }
            for (name, value) in environment {
                guard let value = value.text else { continue }
                string = string.replacing("%(%%environment.values.\(name))", with: value)
            }
            return .string(Text(string))
        case .array(let elements): return .array(elements.map(filled))
        case .object(let members):
            return .object(members.map { .init(name: $0.name, value: filled($0.value)) })
        case .null, .bool, .number: return tree
        }
    }

    private mutating func readEnvironment(named name: String?) {
        let name = name.flatMap { $0.isEmpty ? nil : $0 } ?? "no-environment"
        guard let members = parse("environments/\(name).json")?.content["values"]?.members else {
            return
        }
        for member in members { environment[member.name.description] = member.value }
    }

    // MARK: The root

    private mutating func readRoot(
        _ path: String,
        _ root: JSONTree?,
        into app: inout ExportedApp
    ) {
        let meta = parse(".mdb/meta.json")?.content
        let ids = [meta?["client_app_id"]?.text, root?["app_id"]?.text]
        app.appID = ids.compactMap(\.self).first { !$0.isEmpty }
        app.environmentTag = root?["environment"]?.text ?? ""
        app.environmentValues = environment
        let version = root?["config_version"] ?? meta?["config_version"]
        if case .number(let text)? = version { app.configVersion = Int64(text) }
        if let version = app.configVersion, version > 20_230_101 {
            findings.add(
                ImportFinding(
                    .warning,
                    "import.newer_version",
                    in: path,
                    "config_version",
                    "\(version) is newer than the versions that are known",
                    remedy: "compare the result with the app's settings"
                )
            )
        }
    }

    private mutating func readCommon(into app: inout ExportedApp) {
        for path in files.jsonPaths(in: "values") {
            guard let value = parse(path)?.content, let name = value["name"]?.text else { continue }
            let isSecret = value["from_secret"]?.bool ?? false
            app.values[name] = isSecret ? .secret : .constant(value["value"] ?? .null)
        }
        for path in files.paths where path.hasPrefix("functions/") && path.hasSuffix(".js") {
            guard !path.contains("node_modules/") else { continue }
            let parts = path.split(separator: "/").map(String.init)
            let last = parts[parts.count - 1]
            let name = last == "source.js" ? parts[parts.count - 2] : String(last.dropLast(3))
            app.functions[name] = path
        }
    }

    // MARK: Services, 20200603

    private mutating func readServices(_ root: ExportedFile?, into app: inout ExportedApp) {
        var services: [(name: String, id: String?, type: String, file: ExportedFile)] = []
        for path in files.jsonPaths(in: "services") {
            let parts = path.split(separator: "/").map(String.init)
            guard parts.count == 3, parts[2] == "config.json", let file = parse(path) else {
                continue
            }
            services.append(
                (
                    file.content["name"]?.text ?? parts[1], file.content["id"]?.text,
                    file.content["type"]?.text ?? "", file
                )
            )
        }
        let synced = services.first { service in
            guard let sync = service.file.content["config"]?["sync"] else { return false }
            return sync["state"] != nil || sync["partition"] != nil
        }
        app.rootSync = root?.content["sync"]
        if let synced, let sync = synced.file.content["config"]?["sync"] {
            app.sync = ExportedFile(path: synced.file.path, content: sync)
        }
        app.syncedService = synced?.name
        app.otherServices = services.filter { $0.name != synced?.name }.map { ($0.name, $0.type) }
        for service in services where service.name == synced?.name {
            let folder = String(service.file.path.dropLast("/config.json".count))
            for path in files.jsonPaths(in: folder + "/rules") {
                guard let file = parse(path) else { continue }
                let stem = path.dropFirst(folder.count + 7).dropLast(5)
                let point = stem.firstIndex(of: ".")
                let database = point.map { String(stem[..<$0]) }
                let name = point.map { String(stem[stem.index(after: $0)...]) }
                var collection = ExportedCollection(
                    service: service.name,
                    database: file.content["database"]?.text ?? database ?? "",
                    name: file.content["collection"]?.text ?? name ?? ""
                )
                collection.schema = file.content["schema"].map {
                    ExportedFile(path: path, content: $0)
                }
                collection.relationships = file.content["relationships"].map {
                    ExportedFile(path: path, content: $0)
                }
                collection.rules = file
                app.collections.append(collection)
            }
        }
        for path in files.jsonPaths(in: "auth_providers") {
            guard let file = parse(path) else { continue }
            let stem = path.dropFirst("auth_providers/".count).dropLast(5)
            app.providers.append(
                ExportedProvider(
                    type: file.content["type"]?.text ?? String(stem),
                    file: path,
                    content: file.content
                )
            )
        }
        if let root, let data = root.content["custom_user_data_config"] {
            app.customUserData = ExportedFile(path: root.path, content: data)
        }
    }

    // MARK: Data sources, 20210101 and 20230101

    private mutating func readDataSources(into app: inout ExportedApp) {
        app.sync = parse("sync/config.json")
        var sources: [(name: String, type: String, folder: String)] = []
        for path in files.jsonPaths(in: "data_sources") {
            let parts = path.split(separator: "/").map(String.init)
            guard parts.count == 3, parts[2] == "config.json", let file = parse(path) else {
                continue
            }
            sources.append(
                (
                    file.content["name"]?.text ?? parts[1], file.content["type"]?.text ?? "",
                    parts[1]
                )
            )
        }
        let named = app.sync?.content["service_name"]?.text.flatMap { $0.isEmpty ? nil : $0 }
        let clusters = sources.filter { $0.type == "mongodb-atlas" }
        let service = named ?? clusters.first?.name ?? sources.first?.name
        app.syncedService = service
        app.otherServices = sources.filter { $0.name != service }.map { ($0.name, $0.type) }
        if let service {
            let folder = sources.first { $0.name == service }?.folder ?? service
            readCollections(of: service, in: "data_sources/\(folder)", into: &app)
        }
        readProviders(into: &app)
        app.customUserData = parse("auth/custom_user_data.json")
    }

    private mutating func readCollections(
        of service: String,
        in folder: String,
        into app: inout ExportedApp
    ) {
        app.defaultRule = parse("\(folder)/default_rule.json")
        var positions: [String: Int] = [:]
        for path in files.jsonPaths(in: folder) {
            let parts = path.dropFirst(folder.count + 1).split(separator: "/").map(String.init)
            guard parts.count == 3,
                ["schema.json", "relationships.json", "rules.json"].contains(parts[2])
            else { continue }
            let key = "\(parts[0])/\(parts[1])"
            let file = parse(path)
            if positions[key] == nil {
                positions[key] = app.collections.count
                app.collections.append(
                    ExportedCollection(service: service, database: parts[0], name: parts[1])
                )
            }
            guard let position = positions[key] else { continue }
            switch parts[2] {
            case "schema.json": app.collections[position].schema = file
            case "relationships.json": app.collections[position].relationships = file
            default: app.collections[position].rules = file
            }
        }
    }

    private mutating func readProviders(into app: inout ExportedApp) {
        let path = "auth/providers.json"
        guard let file = parse(path) else { return }
        for member in file.content.members ?? [] {
            app.providers.append(
                ExportedProvider(
                    type: member.value["type"]?.text ?? member.name.description,
                    file: path,
                    content: member.value
                )
            )
        }
    }
}
