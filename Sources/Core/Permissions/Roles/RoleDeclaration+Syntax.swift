package import Query

extension RoleDeclaration {
    /// The mistakes that can be found without the schema of the class.
    package func syntaxProblems(limits: FilterLimits = FilterLimits()) -> [RoleProblem.Mistake] {
        var mistakes: [RoleProblem.Mistake] = []
        func check(_ key: RoleProblem.Key, _ body: () throws(QueryError) -> Void) {
            do throws(QueryError) {
                try body()
            } catch {
                mistakes.append(RoleProblem.Mistake(key: key, cause: error))
            }
        }
        if let applyWhen {
            check(.applyWhen) { () throws(QueryError) in
                _ = try RuleCondition(reading: applyWhen, limits)
            }
        }
        for (key, permission) in permissions {
            guard case .matching(let text) = permission else { continue }
            check(key) { () throws(QueryError) in
                try DocumentFilter<UserValueName>.checkSyntax(
                    of: text,
                    limits: limits,
                    known: UserValueName.knownInFilters,
                    name: UserValueName.init
                )
            }
        }
        return mistakes
    }

    private var permissions: [(RoleProblem.Key, RolePermission?)] {
        [
            (.readFilter, readFilter), (.writeFilter, writeFilter), (.read, read), (.write, write),
            (.insert, insert), (.delete, delete),
        ]
    }
}
