import Changesets
import Query
import Schemas

/// Checks the texts of one role for one class, and collects all mistakes.
struct RoleReader {
    let declaration: RoleDeclaration
    let schema: ClassSchema
    let rules: SubscriptionRules
    let limits: FilterLimits
    private(set) var problems: [RoleProblem] = []

    init(
        _ declaration: RoleDeclaration,
        _ schema: ClassSchema,
        _ rules: SubscriptionRules,
        _ limits: FilterLimits
    ) {
        self.declaration = declaration
        self.schema = schema
        self.rules = rules
        self.limits = limits
    }

    /// Nil if all users get the role.
    mutating func applyWhen() -> RuleCondition<UserValueName>? {
        guard let text = declaration.applyWhen else { return nil }
        do throws(QueryError) {
            return try RuleCondition(reading: text, limits)
        } catch {
            report(.applyWhen, error)
            return nil
        }
    }

    /// The right to read or write: the permission ANDed with its document filter. Where only one of
    /// them is given, it decides; without both there is no right.
    mutating func right(
        _ key: RoleProblem.Key,
        _ permission: RolePermission?,
        _ filterKey: RoleProblem.Key,
        _ filter: RolePermission?
    ) -> RoleFilter {
        let parts = [(key, permission), (filterKey, filter)].compactMap { key, permission in
            permission.map { (key, $0) }
        }
        return parts.isEmpty ? .constant(false) : .all(parts.map { read($0.1, $0.0) })
    }

    /// A right that restricts the one to write.
    mutating func right(_ key: RoleProblem.Key, _ permission: RolePermission?) -> RoleFilter {
        permission.map { read($0, key) } ?? .constant(true)
    }

    private mutating func read(_ permission: RolePermission, _ key: RoleProblem.Key) -> RoleFilter {
        switch permission {
        case .all: return .constant(true)
        case .nothing: return .constant(false)
        case .matching(let text):
            do throws(QueryError) {
                return .filter(
                    try DocumentFilter(
                        text,
                        of: schema.name,
                        rules,
                        limits: limits,
                        known: UserValueName.knownInFilters,
                        name: UserValueName.init
                    )
                )
            } catch {
                report(key, error)
                return .constant(false)
            }
        }
    }

    /// The fields of the class; with `fields`, those that it does not name have the rights of
    /// `additional_fields`, and without that none.
    mutating func fieldRights() -> FieldRights {
        guard !declaration.fields.isEmpty || declaration.additionalFields != nil else {
            return .all
        }
        for name in declaration.fields.keys.sorted() where schema.position(of: name) == nil {
            report(.fields, .badField(name, schema))
        }
        return FieldRights(
            named: declaration.fields,
            others: declaration.additionalFields ?? .nothing
        )
    }

    private mutating func report(_ key: RoleProblem.Key, _ cause: QueryError) {
        problems.append(
            RoleProblem(
                className: schema.name,
                role: declaration.name,
                mistake: RoleProblem.Mistake(key: key, cause: cause)
            )
        )
    }
}

extension RuleCondition<UserValueName> {
    /// Reads `apply_when`.
    init(reading text: String, _ limits: FilterLimits) throws(QueryError) {
        guard text.utf8.count <= limits.sizeInBytes else { throw .tooLong(text, limits) }
        try self.init(text, known: UserValueName.known, name: UserValueName.init)
    }
}

extension QueryError {
    fileprivate static func tooLong(_ text: String, _ limits: FilterLimits) -> QueryError {
        QueryError(
            code: .limit,
            column: 1,
            message: "the rule has \(text.utf8.count) bytes, more than \(limits.sizeInBytes)",
            remedy: "shorten it"
        )
    }

    fileprivate static func badField(_ name: Text, _ schema: ClassSchema) -> QueryError {
        guard schema.primaryKey?.name != name else {
            return QueryError(
                code: .subscription,
                column: 1,
                message: "\(name) is the primary key, which every reader of an object sees",
                remedy: "remove it from fields"
            )
        }
        return QueryError(
            code: .unknownName,
            column: 1,
            message: "\(schema.name) has no property \(name)",
            remedy: "name a property of \(schema.name)"
        )
    }
}
