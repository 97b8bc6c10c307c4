import Changesets

/// Parses the whole language of flexible sync, 12.2; `SubscriptionRules` refuses what subscriptions
/// may not use.
///
/// Operators wait on a stack until one that binds less tightly arrives, so time and memory are
/// linear in the text and nothing recurses.
package struct QueryParser {
    private var lexer: QueryLexer
    /// The tokens of a rule that follow; nil for a query.
    private var ruleTokens: ArraySlice<QueryToken>?
    var token: QueryToken
    /// The token after `token`, if already read.
    private var lookahead: QueryToken?
    var query: ParsedQuery
    var operands: [Operand] = []
    var operators: [PendingOperator] = []
    let limits: QueryLimits
    private var nesting = 0
    /// The subquery being read, the query itself being 0.
    var scope = 0
    var subqueryDepth = 0

    enum Operand {
        /// `isBare`: a single value outside parentheses, as text operators and BETWEEN require.
        case expression(Int, isBare: Bool, offset: Int)
        case condition(Int, offset: Int)
    }

    enum PendingOperator {
        case or, and, not
        case comparison(ComparisonOperator, ignoresCase: Bool, offset: Int)
        case arithmetic(ArithmeticOperator, offset: Int)
        /// An open parenthesis; the flag allows a condition in it.
        case parenthesis(allowsCondition: Bool, offset: Int)
        /// The parenthesis of a subquery, whose condition is being read.
        case subquery(scope: Int, parent: Int, isBareOperand: Bool, offset: Int)
    }

    package static func parse(
        _ text: [UInt8],
        limits: QueryLimits = QueryLimits()
    ) throws(QueryError) -> ParsedQuery {
        do throws(LocatedProblem) {
            guard text.count <= limits.length else {
                throw LocatedProblem(
                    .limit,
                    at: 0,
                    "the query has \(text.count) bytes, more than \(limits.length)",
                    remedy: "shorten it"
                )
            }
            var parser = try QueryParser(text, limits)
            try parser.parseWhole()
            return parser.query
        } catch {
            throw error.located(in: text)
        }
    }

    package static func parse(_ text: String) throws(QueryError) -> ParsedQuery {
        try parse(Array(text.utf8))
    }

    /// Parses a rule: the grammar of queries with the words of `RuleLexer`, in which a value alone is a
    /// condition.
    static func parse(rule text: String) throws(QueryError) -> ParsedQuery {
        let bytes = Array(text.utf8)
        do throws(LocatedProblem) {
            var parser = try QueryParser(
                bytes,
                ruleTokens: RuleLexer.tokens(of: text)[...],
                QueryLimits()
            )
            try parser.parseWhole()
            return parser.query
        } catch {
            throw error.located(in: bytes)
        }
    }

    private init(
        _ text: [UInt8],
        ruleTokens: ArraySlice<QueryToken>? = nil,
        _ limits: QueryLimits
    ) throws(LocatedProblem) {
        self.lexer = QueryLexer(text)
        self.ruleTokens = ruleTokens
        self.token = QueryToken(kind: .end, range: 0..<0)
        self.query = ParsedQuery(text: text)
        self.limits = limits
        self.token = try nextToken()
        query.scopes = [ScopeSyntax(path: nil, variable: .empty, parent: 0, offset: 0)]
    }

    // MARK: Tokens

    mutating func advance() throws(LocatedProblem) {
        if let next = lookahead {
            token = next
            lookahead = nil
        } else {
            token = try nextToken()
        }
    }

    private mutating func nextToken() throws(LocatedProblem) -> QueryToken {
        guard ruleTokens != nil else { return try lexer.next() }
        return ruleTokens?.popFirst() ?? token
    }

    var isRule: Bool { ruleTokens != nil }

    mutating func peek() throws(LocatedProblem) -> QueryToken {
        if let lookahead { return lookahead }
        let next = try nextToken()
        lookahead = next
        return next
    }

    @discardableResult
    mutating func expect(
        _ kind: QueryToken.Kind,
        _ name: String
    ) throws(LocatedProblem) -> QueryToken {
        guard token.kind == kind else { throw unexpected(expecting: name) }
        let expected = token
        try advance()
        return expected
    }

    func bytes(of token: QueryToken) -> ArraySlice<UInt8> { query.text[token.range] }

    func unexpected(expecting expectation: String) -> LocatedProblem {
        guard token.kind != .end else {
            return LocatedProblem(
                .syntax,
                at: token.range.lowerBound,
                "the text ends where \(expectation) must follow",
                remedy: "complete it"
            )
        }
        let shown = String(decoding: bytes(of: token).prefix(40), as: UTF8.self)
        return LocatedProblem(
            .syntax,
            at: token.range.lowerBound,
            "unexpected \(token.range.count > 40 ? shown + "..." : shown)",
            remedy: "write \(expectation) here"
        )
    }

    // MARK: The query

    private mutating func parseWhole() throws(LocatedProblem) {
        var needsOperand = true
        while true {
            if needsOperand {
                needsOperand = try readOperandPosition()
            } else {
                switch try readOperatorPosition() {
                case .operand: needsOperand = true
                case .operator: needsOperand = false
                case .end:
                    query.root = try finishCondition()
                    query.scopes[0].root = query.root
                    return try parseOrdering()
                }
            }
        }
    }

    /// Reads one token or value where an operand must begin. Returns whether one is still required.
    private mutating func readOperandPosition() throws(LocatedProblem) -> Bool {
        switch token.kind {
        case .leftParenthesis:
            guard !isBehindTextOperator, !isRule || allowsCondition else {
                throw unexpected(expecting: "a value")
            }
            try enterNesting()
            operators.append(
                .parenthesis(allowsCondition: allowsCondition, offset: token.range.lowerBound)
            )
            try advance()
            return true
        case .not:
            guard allowsCondition else { throw unexpected(expecting: "a value") }
            try enterNesting()
            operators.append(.not)
            try advance()
            return true
        case .truePredicate, .falsePredicate:
            guard allowsCondition else { throw unexpected(expecting: "a value") }
            let offset = token.range.lowerBound
            append(.truth(token.kind == .truePredicate, offset: offset), at: offset)
            try advance()
            return false
        case .subquery:
            try openSubquery()
            return true
        default:
            let offset = token.range.lowerBound
            let expression = try parseValue()
            query.expressions.append(expression)
            operands.append(
                .expression(query.expressions.count - 1, isBare: true, offset: offset)
            )
            return false
        }
    }

    mutating func enterNesting() throws(LocatedProblem) {
        nesting += 1
        guard nesting <= limits.nesting else {
            throw LocatedProblem(
                .limit,
                at: token.range.lowerBound,
                "more than \(limits.nesting) parentheses and negations are open",
                remedy: "simplify the query"
            )
        }
    }

    mutating func leaveNesting() {
        nesting -= 1
    }

    mutating func append(_ condition: ConditionSyntax, at offset: Int) {
        query.conditions.append(condition)
        operands.append(.condition(query.conditions.count - 1, offset: offset))
    }

    /// Whether a whole condition may begin here.
    var allowsCondition: Bool {
        switch operators.last {
        case nil, .or, .and, .not, .subquery: true
        case .parenthesis(let allowsCondition, _): allowsCondition
        case .comparison, .arithmetic: false
        }
    }

    private var isBehindTextOperator: Bool {
        guard case .comparison(let operation, _, _) = operators.last else { return false }
        return operation.isForText
    }
}

extension ComparisonOperator {
    /// BEGINSWITH and the like.
    var isForText: Bool {
        switch self {
        case .beginsWith, .endsWith, .contains, .like, .text: true
        case .equal, .notEqual, .less, .lessOrEqual, .greater, .greaterOrEqual, .in: false
        }
    }

    var isOrder: Bool {
        switch self {
        case .less, .lessOrEqual, .greater, .greaterOrEqual: true
        case .equal, .notEqual, .in, .beginsWith, .endsWith, .contains, .like, .text: false
        }
    }

    var allowsIgnoringCase: Bool { !isOrder && self != .text }
}
