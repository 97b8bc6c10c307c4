package import Changesets
package import JSON
import Schemas

/// A condition over the objects of a class and the values of a user, such as
/// `owner_id == $user.id` (flexible sync, 11.7).
///
/// It is a query in the language of subscriptions, in which `$user.id` and similar names are
/// constants. `query(_:)` puts the constants in. They never become text, and take the type of the
/// property beside them.
package struct DocumentFilter<Name: Hashable & Sendable>: Sendable {
    /// The source text.
    package let text: String
    package let className: Text
    private let schema: RealmSchema
    private let limits: FilterLimits
    private let syntax: ParsedQuery
    private let comparisons: [UserComparison<Name>]

    /// - Parameters:
    ///   - rules: the schema, and the fields that may be used.
    ///   - known: lists the names, for an error: `$user.id and $user.data.NAME`.
    ///   - name: the meaning of a word such as `user.id`, nil if it has none.
    package init(
        _ text: String,
        of className: Text,
        _ rules: SubscriptionRules,
        limits: FilterLimits = FilterLimits(),
        known: String,
        name: @escaping (String) -> Name?
    ) throws(QueryError) {
        self.text = text
        self.className = className
        self.schema = rules.schema
        self.limits = limits
        self.syntax = try QueryParser.parse(
            Array(text.utf8),
            limits: QueryLimits(length: limits.sizeInBytes, nesting: limits.nesting)
        )
        let reader = UserComparisonReader(
            query: syntax,
            schema: rules.schema,
            className: className,
            known: known,
            name: name
        )
        do throws(LocatedProblem) {
            self.comparisons = try reader.comparisons()
        } catch {
            throw error.located(in: syntax.text)
        }
        // With one value of each property's type, the rest of the filter is checked as it will be used.
        var sample = syntax
        for comparison in comparisons { comparison.insertSample(into: &sample) }
        _ = try rules.comparingLists.check(sample, of: className)
    }

    /// The checks that need no schema: grammar, length, constructs, and the names of the user's values.
    package static func checkSyntax(
        of text: String,
        limits: FilterLimits = FilterLimits(),
        known: String,
        name: @escaping (String) -> Name?
    ) throws(QueryError) {
        var query = try QueryParser.parse(
            Array(text.utf8),
            limits: QueryLimits(length: limits.sizeInBytes, nesting: limits.nesting)
        )
        let reader = UserComparisonReader(
            query: query,
            schema: RealmSchema(),
            className: .empty,
            known: known,
            name: name
        )
        do throws(LocatedProblem) {
            for expression in try reader.userExpressions() {
                query.expressions[expression] = .constant(
                    ConstantSyntax(literal: .value(.null), offset: 0)
                )
            }
        } catch {
            throw error.located(in: query.text)
        }
        try SubscriptionRules.checkSyntax(of: query)
    }

    /// The names that the filter contains.
    package var names: Set<Name> { Set(comparisons.flatMap(\.names)) }

    /// The query for one user.
    ///
    /// A comparison with a value that is missing, has another type than the property, or exceeds a
    /// limit cannot be evaluated. It never opens more than it would with any value: it is false, and
    /// true under an odd number of negations (moving an app, 4.1).
    ///
    /// - Parameter value: the value of a name, nil if it is missing or null.
    package func query(_ value: (Name) -> JSONValue?) -> CheckedQuery {
        var query = syntax
        for comparison in comparisons { comparison.insert(value, limits, into: &query) }
        do {
            return try QueryChecker.check(query, of: className, in: schema)
        } catch {
            return CheckedQuery(false, of: className)
        }
    }
}
