import BSON
import Changesets
import Schemas

/// Turns the roles of one class into roles here (moving an app, 4.3).
struct RoleConversion {
    let owner: ClassSchema
    let queryable: Set<Text>
    let user: KnownUserData
    let reader: RuleExpressionReader
    let file: String
    private(set) var findings = ImportFindings()

    init(
        owner: ClassSchema,
        queryable: Set<Text>,
        user: KnownUserData,
        reader: RuleExpressionReader,
        file: String
    ) {
        self.owner = owner
        self.queryable = queryable
        self.user = user
        self.reader = reader
        self.file = file
    }

    mutating func roles(_ trees: [JSONTree], path: String) -> [ImportedRole] {
        var names: Set<String> = []
        return trees.enumerated().map { index, tree in
            var role = role(tree, path: "\(path)[\(index)]", index: index)
            while !names.insert(role.name).inserted { role.name += "_\(index + 1)" }
            return role
        }
    }

    // MARK: One role

    private mutating func role(_ tree: JSONTree, path: String, index: Int) -> ImportedRole {
        let name = tree["name"]?.text.flatMap { $0.isEmpty ? nil : $0 } ?? "role\(index + 1)"
        var role = ImportedRole(name: name)
        if let problem = rights(of: tree, path: path, into: &role) {
            role = ImportedRole(name: name)
            report(
                .warning,
                "import.role_incompatible",
                path,
                "role \(name) gave nothing to sync: \(problem); it allows nothing",
                remedy: "write the role that you want"
            )
        }
        let allowsNothing = role.read == "false" && role.write == "false"
        let rule = ApplyWhen(user: user, reader: reader, mayBeWider: allowsNothing)
            .translate(tree["apply_when"] ?? tree["applyWhen"], path: "\(path).apply_when")
        guard let text = rule.text else {
            report(
                .error,
                "import.apply_when_unsupported",
                path,
                "\(rule.problem); role \(name) now takes in all users and allows nothing, so that "
                    + "no later role opens what it closed",
                remedy: "write apply_when in the rule language"
            )
            return ImportedRole(name: name)
        }
        role.applyWhen = text == "true" ? nil : text
        return role
    }

    /// Fills in what the role allows. Returns the reason if hosted sync did not take the role.
    private mutating func rights(
        of tree: JSONTree,
        path: String,
        into role: inout ImportedRole
    ) -> String? {
        guard let filters = tree["document_filters"], let read = filters["read"],
            let write = filters["write"]
        else { return "document_filters lacks read or write" }
        for word in ["read", "write"] {
            if let value = tree[word], value.bool == nil, value != .null {
                return "\(word) is not a boolean"
            }
        }
        let translation = FilterTranslation(
            owner: owner,
            queryable: queryable,
            user: user,
            reader: RuleExpressionReader(constants: reader.constants, keepsLists: true)
        )
        let readable = translation.translate(read, path: "\(path).document_filters.read")
        let writable = translation.translate(write, path: "\(path).document_filters.write")
        let inserts = tree["insert"].map { translation.translate($0, path: "\(path).insert") }
        let deletes = tree["delete"].map { translation.translate($0, path: "\(path).delete") }
        let parts = [readable, writable, inserts, deletes].compactMap(\.self)
        if let problem = parts.lazy.compactMap(\.incompatible).first { return problem }
        let fields = fieldRights(of: tree)
        if let problem = fields.problem { return problem }

        let hasFields = fields.others != nil || !fields.named.isEmpty
        let mayRead = tree["read"]?.bool ?? hasFields
        let mayWrite = tree["write"]?.bool ?? hasFields
        let writeLogic = mayWrite ? writable.logic : .constant(false)
        let readLogic = RuleLogic.or([mayRead ? readable.logic : .constant(false), writeLogic])
        role.read = ImportedRole.permission(RuleWords.filter.text(readLogic))
        role.write = ImportedRole.permission(RuleWords.filter.text(writeLogic))
        role.insert = inserts.map { ImportedRole.permission($0.text) }.flatMap(Self.unlessTrue)
        role.delete = deletes.map { ImportedRole.permission($0.text) }.flatMap(Self.unlessTrue)
        if tree["read"] == nil || tree["write"] == nil {
            // A permission for the whole object counts more than those of its fields.
            let all = (read: tree["read"]?.bool == true, write: tree["write"]?.bool == true)
            role.fields = fields.named.map {
                ($0.name, $0.read || all.read || all.write, $0.write || all.write)
            }
            let others = fields.others ?? (read: false, write: false)
            role.otherFields =
                fields.others == nil && !all.read && !all.write
                ? nil : (others.read || all.read || all.write, others.write || all.write)
        }
        if mayRead { report(readable, path, "document_filters.read") }
        if mayWrite {
            report(writable, path, "document_filters.write")
            for part in [inserts, deletes].compactMap(\.self) { report(part, path, "") }
        }
        return nil
    }

    private static func unlessTrue(_ permission: String) -> String? {
        permission == "true" ? nil : permission
    }

    private typealias Rights = (read: Bool, write: Bool)

    private func fieldRights(
        of tree: JSONTree
    ) -> (named: [(name: String, read: Bool, write: Bool)], others: Rights?, problem: String?) {
        func rights(_ tree: JSONTree) -> Rights? {
            for word in ["read", "write"] {
                if let value = tree[word], value.bool == nil { return nil }
            }
            return (tree["read"]?.bool ?? false, tree["write"]?.bool ?? false)
        }
        var named: [(name: String, read: Bool, write: Bool)] = []
        for member in tree["fields"]?.members ?? [] {
            let name = member.name.description
            if member.name == owner.primaryKey?.name {
                return ([], nil, "fields has permissions on \(name)")
            }
            guard let rights = rights(member.value) else {
                return ([], nil, "a permission of field \(name) is not a boolean")
            }
            guard owner.property(named: member.name) != nil else { continue }
            named.append((name, rights.read, rights.write))
        }
        guard let others = tree["additional_fields"], others.members?.isEmpty == false else {
            return (named, nil, nil)
        }
        guard let rights = rights(others) else {
            return ([], nil, "a permission of additional_fields is not a boolean")
        }
        return (named, rights, nil)
    }

    // MARK: Reports

    private mutating func report(
        _ outcome: FilterTranslation.Outcome,
        _ path: String,
        _ part: String
    ) {
        for reason in outcome.reasons {
            report(
                reason.isExact ? .note : .error,
                reason.code,
                reason.path,
                reason.problem,
                remedy: reason.isExact
                    ? "none is needed" : "write the filter in the query language"
            )
        }
        if outcome.quality == .narrower, outcome.reasons.allSatisfy(\.isExact) {
            report(
                .note,
                "import.rule_narrower",
                part.isEmpty ? path : "\(path).\(part)",
                "users without the value, and null, do not match",
                remedy: "none is needed unless objects without a value were to match"
            )
        }
    }

    private mutating func report(
        _ severity: ImportFinding.Severity,
        _ code: String,
        _ place: String,
        _ problem: String,
        remedy: String
    ) {
        findings.add(
            ImportFinding(
                severity,
                code,
                in: file,
                "\(owner.name) \(place)",
                problem,
                remedy: remedy
            )
        )
    }
}
