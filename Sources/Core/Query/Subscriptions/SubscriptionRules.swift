package import Changesets
package import Schemas

/// The part of the query language that subscriptions may use (flexible sync, 12.3), and the
/// restriction to queryable fields (12.7).
package struct SubscriptionRules: Sendable {
    let schema: RealmSchema
    let limits: SubscriptionLimits
    /// Whether `ANY tags IN {'a', 'b'}` is allowed. The hosted service refused it in subscriptions, and knew it in
    /// filters of roles, as `$in` (moving an app, 4.3).
    private var comparesLists = false
    private let isQueryable: @Sendable (_ className: Text, _ property: Text) -> Bool

    /// - Parameter isQueryable: not called for the primary key, which always is.
    package init(
        schema: RealmSchema,
        limits: SubscriptionLimits = SubscriptionLimits(),
        isQueryable: @escaping @Sendable (_ className: Text, _ property: Text) -> Bool = { _, _ in
            true
        }
    ) {
        self.schema = schema
        self.limits = limits
        self.isQueryable = isQueryable
    }

    /// The part that filters of roles may use.
    var comparingLists: SubscriptionRules {
        var rules = self
        rules.comparesLists = true
        return rules
    }

    /// Parses and checks the query of a subscription, or of several joined by OR.
    package func check(
        _ text: [UInt8],
        of className: Text
    ) throws(QueryError) -> CheckedQuery {
        try Self.checkLength(of: text, limits)
        try checkKind(of: className)
        let query = try QueryParser.parse(text, limits: limits.ofJoinedQuery)
        try Self.checkCount(of: query, limits)
        return try check(query, of: className)
    }

    private static func checkCount(
        of query: ParsedQuery,
        _ limits: SubscriptionLimits
    ) throws(QueryError) {
        var count = query.conditions.count { condition in
            switch condition {
            case .comparison, .between, .geoWithin: true
            case .truth, .not, .and, .or: false
            }
        }
        for case .list(let list) in query.expressions { count += list.elements.count / 8 }
        guard count <= limits.comparisons else {
            throw QueryError(
                code: .limit,
                column: 1,
                message: "the subscriptions of the class have \(count) comparisons, more than "
                    + "\(limits.comparisons)",
                remedy: "use fewer, or IN with a list of values, of which eight count as one"
            )
        }
    }

    /// Checks a parsed query; its length and the kind of its class are checked before.
    func check(_ query: ParsedQuery, of className: Text) throws(QueryError) -> CheckedQuery {
        try Self.checkSyntax(of: query)
        let checked = try QueryChecker.check(query, of: className, in: schema)
        do throws(LocatedProblem) {
            try checkOperands(of: checked)
        } catch {
            throw error.located(in: query.text)
        }
        return checked
    }

    /// The checks that need no schema, for a client without the server's: grammar, length, constructs.
    package static func checkSyntax(
        of text: [UInt8],
        limits: SubscriptionLimits = SubscriptionLimits()
    ) throws(QueryError) {
        try checkLength(of: text, limits)
        try checkSyntax(of: try QueryParser.parse(text, limits: limits.ofJoinedQuery))
    }

    private static func checkLength(
        of text: [UInt8],
        _ limits: SubscriptionLimits
    ) throws(QueryError) {
        let limit = limits.querySizeInBytes
        for part in JoinedQuery.parts(of: text) where part.count > limit {
            throw QueryError(
                code: .limit,
                column: TextColumn.column(of: part.startIndex, in: text),
                message: "the query has \(part.count) bytes, more than \(limit)",
                remedy: "shorten it, or split it into several subscriptions"
            )
        }
    }

    static func checkSyntax(of query: ParsedQuery) throws(QueryError) {
        do throws(LocatedProblem) {
            if let ordering = query.ordering.first { throw refusal(ordering.word, ordering.offset) }
            for condition in query.conditions { try check(condition) }
            for expression in query.expressions { try check(expression) }
        } catch {
            throw error.located(in: query.text)
        }
    }

    private func checkKind(of className: Text) throws(QueryError) {
        guard let kind = schema[className]?.kind else { return }
        let word: String
        switch kind {
        case .topLevel: return
        case .embedded: word = "embedded"
        case .asymmetric: word = "asymmetric"
        }
        throw QueryError(
            code: .subscription,
            column: 1,
            message: "\(className) is \(word), and only top-level classes have subscriptions",
            remedy: "subscribe to a top-level class"
        )
    }

    // MARK: Syntax

    private static func check(_ condition: ConditionSyntax) throws(LocatedProblem) {
        switch condition {
        case .geoWithin(_, let offset, _): throw refusal("GEOWITHIN", offset)
        case .comparison(let comparison) where comparison.operation == .text:
            throw refusal("TEXT", comparison.offset)
        case .truth, .not, .and, .or, .comparison, .between: return
        }
    }

    private static func check(_ expression: ExpressionSyntax) throws(LocatedProblem) {
        switch expression {
        case .subquery(_, let offset): throw refusal("SUBQUERY", offset)
        case .aggregate(let aggregate):
            throw refusal(aggregate.function.rawValue, aggregate.path.offset)
        case .constant(let constant): try check(constant)
        case .list(let list): for element in list.elements { try check(element) }
        case .property(let property): try check(property)
        case .operation: return
        }
    }

    private static func check(_ constant: ConstantSyntax) throws(LocatedProblem) {
        switch constant.literal {
        case .value, .number: return
        case .object: throw refusal("obj()", constant.offset)
        case .internalLink: throw refusal("an object number", constant.offset)
        case .argument(let number): throw refusal("the argument $\(number)", constant.offset)
        }
    }

    private static func check(_ property: PropertySyntax) throws(LocatedProblem) {
        let offset = property.path.offset
        if property.path.elements.contains(.name("@links")) { throw refusal("@links", offset) }
        if property.suffix == .type { throw refusal("@type", offset) }
        guard property.path.elements.count > 1 else { return }
        for element in property.path.elements.dropFirst() {
            switch element {
            case .name("@keys"), .name("@values"), .key:
                throw refusal("the key of a dictionary", offset)
            case .name: throw refusal("a path with more than one property", offset)
            case .index, .first, .last, .all, .argument:
                throw refusal("the index of an element", offset)
            }
        }
    }

    private static func refusal(_ what: String, _ offset: Int) -> LocatedProblem {
        LocatedProblem(
            .subscription,
            at: offset,
            "a subscription cannot use \(what)",
            remedy: "use properties of the class itself, constants and comparisons"
        )
    }

    // MARK: Properties

    private func checkOperands(of query: CheckedQuery) throws(LocatedProblem) {
        for operand in query.operands {
            if case .property(let property) = operand { try check(property) }
        }
        for case .comparison(let comparison) in query.conditions {
            let sides = [query.operands[comparison.left], query.operands[comparison.right]]
            let hasList = sides.contains { if case .list = $0 { true } else { false } }
            let hasCollection = sides.contains {
                if case .property(let property) = $0 { property.isElementList } else { false }
            }
            if hasList, comparison.operation != .equal, comparison.operation != .notEqual {
                throw Self.refusal("a list in braces with this operator", comparison.offset)
            }
            if hasList, hasCollection, !comparesLists {
                throw Self.refusal("a list compared with another list", comparison.offset)
            }
            if comparison.operation == .like { try checkPatterns(sides, comparison.offset) }
        }
    }

    private func checkPatterns(
        _ sides: [CheckedOperand],
        _ offset: Int
    ) throws(LocatedProblem) {
        for case .constant(let constant) in sides {
            guard let size = constant.value.bytes?.count, size > limits.pattern else { continue }
            throw LocatedProblem(
                .limit,
                at: offset,
                "the pattern of LIKE has \(size) bytes, more than \(limits.pattern)",
                remedy: "shorten it"
            )
        }
    }

    private func check(_ property: CheckedProperty) throws(LocatedProblem) {
        guard case .field(let field) = property.target, property.hops.isEmpty else {
            throw Self.refusal("a link", property.offset)
        }
        switch field.collection {
        case .dictionary: throw Self.refusal("a dictionary", property.offset)
        case .single, .set:
            if property.suffix == .size {
                throw Self.refusal("@count of anything but a list", property.offset)
            }
        case .list: break
        }
        guard field.position == nil || isQueryable(field.className, field.name) else {
            throw LocatedProblem(
                .notQueryable,
                at: property.offset,
                "key \"\(field.name)\" is not a queryable field",
                remedy: "make it one in the server's configuration, or leave it out"
            )
        }
    }
}

extension OrderingSyntax {
    fileprivate var word: String {
        switch self {
        case .sort: "SORT"
        case .distinct: "DISTINCT"
        case .limit: "LIMIT"
        }
    }
}
