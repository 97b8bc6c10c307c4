import Changesets
package import Query
package import Schemas

/// The roles of an app, checked against its schema (flexible sync, 11.7).
///
/// A role that cannot be evaluated allows nothing; `problems` has the reasons.
package struct AppRoles: Sendable {
    private let classes: [Text: [Role]]
    /// In the order of classes and roles.
    package let problems: [RoleProblem]

    /// - Parameters:
    ///   - rules: the app's schema and its queryable fields.
    package init(
        _ declarations: RoleDeclarations,
        _ schema: RealmSchema,
        _ rules: SubscriptionRules,
        limits: FilterLimits = FilterLimits()
    ) {
        var classes: [Text: [Role]] = [:]
        var problems: [RoleProblem] = []
        for owner in schema.classes where !owner.isEmbedded {
            var roles: [Role] = []
            for declaration in declarations.roles(of: owner.name) {
                var reader = RoleReader(declaration, owner, rules, limits)
                roles.append(Role(declaration, &reader))
                problems += reader.problems
            }
            classes[owner.name] = roles
        }
        self.classes = classes
        self.problems = problems
    }

    /// Whether a role names a value of the user's custom data.
    package var usesCustomData: Bool {
        classes.values.contains { $0.contains(where: \.usesCustomData) }
    }

    /// Chooses the role of each class, and puts in the values of the user. Rights are fixed for a
    /// session (flexible sync, 11.7).
    package func rights(of user: UserValues) -> UserRights {
        var rights: [Text: ClassRights] = [:]
        for (className, roles) in classes {
            let role = roles.first { $0.applies(to: user) }
            rights[className] = role.map { .role($0.rights(of: user, to: className)) } ?? .noRole
        }
        return UserRights(classes: rights)
    }
}
