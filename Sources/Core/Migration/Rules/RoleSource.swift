import BSON
import Changesets
import Schemas

/// Finds the roles of a class in an export (moving an app, 4.3 and 4.4).
struct RoleSource {
    struct List {
        var trees: [JSONTree] = []
        var path = "roles"
        var file = ""

        static let none = List()
    }

    private let app: ExportedApp
    private let settings: SyncImportSettings
    private let usesOldRules: Bool

    /// Nil, and reported, if the export has roles of both kinds.
    init?(
        _ app: ExportedApp,
        _ settings: SyncImportSettings,
        _ options: AppImportOptions,
        _ findings: inout ImportFindings
    ) {
        self.app = app
        self.settings = settings
        let old = settings.permissions
        let hasOld =
            old?["defaultRoles"]?.elements?.isEmpty == false
            || old?["rules"]?.members?.isEmpty == false
        let hasNew =
            app.defaultRule?.content["roles"]?.elements?.isEmpty == false
            || app.collections.contains { $0.rules?.content["roles"]?.elements?.isEmpty == false }
        if hasOld, hasNew, options.rules == nil {
            findings.add(
                ImportFinding(
                    .fatal,
                    "import.rules_twice",
                    in: settings.file,
                    "permissions",
                    "there are roles here and beside the collections",
                    remedy: "choose with --rules unified or --rules legacy"
                )
            )
            return nil
        }
        self.usesOldRules = hasOld && (options.rules == .legacy || !hasNew)
    }

    func roles(of owner: ClassSchema, _ schema: ImportedSchema) -> List {
        guard !usesOldRules else { return oldRoles(of: owner, schema) }
        let path = schema.collection(of: owner.name)
        let collection = app.collections.first { $0.path == path }
        if let rules = collection?.rules, let roles = rules.content["roles"]?.elements,
            !roles.isEmpty
        {
            return List(trees: roles, file: rules.path)
        }
        guard let rule = app.defaultRule else { return .none }
        return List(trees: rule.content["roles"]?.elements ?? [], file: rule.path)
    }

    /// The roles of before 2023 in the form of later ones: their permissions are filters, and allow
    /// everything else.
    private func oldRoles(of owner: ClassSchema, _ schema: ImportedSchema) -> List {
        let rules = settings.permissions?["rules"]
        let collection = schema.collection(of: owner.name).map {
            String($0.drop { $0 != "." }.dropFirst())
        }
        let own = rules?[owner.name.description] ?? collection.flatMap { rules?[$0] }
        let trees = own?.elements ?? settings.permissions?["defaultRoles"]?.elements ?? []
        let path =
            own == nil ? "permissions.defaultRoles" : "permissions.rules.\(owner.name)"
        return List(trees: trees.map(Self.renewed), path: path, file: settings.file)
    }

    private static func renewed(_ role: JSONTree) -> JSONTree {
        let filters: [JSONTree.Member] = ["read", "write"].compactMap { word in
            role[word].map { .init(name: Text(word), value: $0) }
        }
        return .object([
            .init(name: "name", value: role["name"] ?? .null),
            .init(name: "apply_when", value: role["applyWhen"] ?? .object([])),
            .init(name: "document_filters", value: .object(filters)),
            .init(name: "read", value: .bool(true)),
            .init(name: "write", value: .bool(true)),
        ])
    }
}
