import Changesets
import Permissions
import Query
import Schemas
import Settings
import YAML

/// The section `rules` of an app: the roles of its classes.
struct RolesReading {
    private let lists: [RoleList]

    private struct RoleList {
        /// Nil: for all classes without roles of their own.
        let className: Text?
        let node: NodeReader
        let roles: [RoleReading]
    }

    /// The most roles of one list: each is tried at the start of a session.
    private static let mostRoles = 100

    static var none: RolesReading { RolesReading(lists: []) }

    private init(lists: [RoleList]) {
        self.lists = lists
    }

    /// By class; `default` is for all others.
    init(reading node: NodeReader) {
        self.lists = node.entries { entry in
            let roles = entry.value.roles()
            if roles.count > Self.mostRoles {
                entry.value.report(
                    .badValue,
                    "has \(roles.count) roles, more than \(Self.mostRoles)",
                    remedy: "join roles with the same rights"
                )
            }
            return RoleList(
                className: entry.name == "default" ? nil : Text(entry.name),
                node: entry.value,
                roles: roles
            )
        }
    }

    var declarations: RoleDeclarations {
        var declarations = RoleDeclarations()
        for list in lists {
            let roles = list.roles.map(\.declaration)
            if let className = list.className {
                declarations.classes[className] = roles
            } else {
                declarations.standard = roles
            }
        }
        return declarations
    }

    var isEmpty: Bool { lists.isEmpty }

    // MARK: Checks

    /// The checks that need no schema.
    func check(_ limits: FilterLimits) {
        for list in lists { checkSyntax(list, limits) }
    }

    /// - Parameter isComplete: whether clients cannot add classes and properties.
    func check(
        _ schema: RealmSchema,
        _ rules: SubscriptionRules,
        _ limits: FilterLimits,
        isComplete: Bool
    ) {
        let problems = AppRoles(declarations, schema, rules, limits: limits).problems
        for list in lists {
            guard let className = list.className else {
                checkStandard(list, problems.filter { declarations.classes[$0.className] == nil })
                if schema.classes.isEmpty { checkSyntax(list, limits) }
                continue
            }
            guard let owner = schema[className], !owner.isEmbedded else {
                reportClass(list, className, schema, isComplete)
                checkSyntax(list, limits)
                continue
            }
            for problem in problems where problem.className == className {
                report(problem, in: list)
            }
        }
    }

    private func checkSyntax(_ list: RoleList, _ limits: FilterLimits) {
        for role in list.roles {
            for mistake in role.declaration.syntaxProblems(limits: limits) {
                Self.report(mistake, of: role)
            }
        }
    }

    private func report(_ problem: RoleProblem, in list: RoleList) {
        guard let role = list.roles.first(where: { $0.declaration.name == problem.role }) else {
            return
        }
        Self.report(problem.mistake, of: role)
    }

    private static func report(_ mistake: RoleProblem.Mistake, of role: RoleReading) {
        role.node(of: mistake.key).report(
            .badValue,
            text(of: mistake),
            remedy: mistake.cause.remedy
        )
    }

    /// A list of fields has no columns.
    private static func text(of mistake: RoleProblem.Mistake) -> String {
        let cause = mistake.cause
        return mistake.key == .fields ? cause.message : "column \(cause.column): \(cause.message)"
    }

    /// A standard role may fail for some classes: there it allows nothing. If it fails for all, it is
    /// a mistake.
    private func checkStandard(_ list: RoleList, _ problems: [RoleProblem]) {
        for role in list.roles {
            let own = problems.filter { $0.role == role.declaration.name }
            for key in Set(own.map(\.mistake.key)).sorted(by: { $0.rawValue < $1.rawValue }) {
                let failing = own.filter { $0.mistake.key == key }
                guard let first = failing.first else { continue }
                if first.mistake.cause.code == .syntax || key == .applyWhen {
                    Self.report(first.mistake, of: role)
                    continue
                }
                let names = failing.prefix(3).map(\.className.description).joined(separator: ", ")
                let more = failing.count > 3 ? " and \(failing.count - 3) more" : ""
                role.node(of: key).report(
                    .badValue,
                    severity: .warning,
                    "the role allows nothing in \(names)\(more): \(Self.text(of: first.mistake))",
                    remedy: "give \(failing.count == 1 ? "it" : "them") other roles, or "
                        + first.mistake.cause.remedy
                )
            }
        }
    }

    private func reportClass(
        _ list: RoleList,
        _ className: Text,
        _ schema: RealmSchema,
        _ isComplete: Bool
    ) {
        guard schema[className] == nil else {
            return list.node.report(
                .badValue,
                "\(className) is embedded: its objects have the rights of their owners",
                remedy: "give roles to the classes of the owners"
            )
        }
        list.node.report(
            .unknownName,
            severity: isComplete ? .error : .warning,
            "the schema has no class \(className)",
            remedy: "name a class of the schema file, or default"
        )
    }
}

extension NodeReader {
    /// A list of roles, or the one role of all users.
    fileprivate func roles() -> [RoleReading] {
        if case .mapping = node.content {
            return mapping { RoleReading(reading: $0, name: "all users") }.map { [$0] } ?? []
        }
        describe(.described { _ = $0.mapping { RoleReading(reading: $0, name: "all users") } })
        let roles = elements { node in node.mapping { RoleReading(reading: $0) } } ?? []
        var names: Set<String> = []
        for role in roles where !names.insert(role.declaration.name).inserted {
            role.node.report(
                .badValue,
                "has the name of another role, \(role.declaration.name)",
                remedy: "give each role of a class a name of its own"
            )
        }
        return roles
    }
}
