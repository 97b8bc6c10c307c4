import Changesets

/// Properties, lists, subqueries, shapes, and the clauses after the condition.
extension QueryParser {
    mutating func parseValue() throws(LocatedProblem) -> ExpressionSyntax {
        if let quantifier = quantifier(of: token.kind) { return try parseQuantified(quantifier) }
        if token.kind == .leftBrace { return .list(try parseList()) }
        if token.kind.isName, try !isBinaryConstant() { return try parseProperty(nil) }
        return .constant(try parseConstant())
    }

    private func quantifier(of kind: QueryToken.Kind) -> Quantifier? {
        switch kind {
        case .any: .any
        case .all: .all
        case .none: Quantifier.none
        default: nil
        }
    }

    private mutating func parseQuantified(
        _ quantifier: Quantifier
    ) throws(LocatedProblem) -> ExpressionSyntax {
        switch try peek().kind {
        case .leftBrace:
            return .list(try parseList())
        case .argument, .keyPathArgument:
            try advance()
            return .constant(try parseConstant())
        default:
            try advance()
            guard token.kind.isName else { throw unexpected(expecting: "a property or a list") }
            return try parseProperty(quantifier)
        }
    }

    // MARK: Properties

    private mutating func parseProperty(
        _ quantifier: Quantifier?
    ) throws(LocatedProblem) -> ExpressionSyntax {
        var path = PathSyntax(elements: [], offset: token.range.lowerBound)
        try parseName(into: &path)
        while true {
            switch token.kind {
            case .leftBracket:
                if let suffix = try parseBracket(into: &path) {
                    return .property(
                        PropertySyntax(quantifier: quantifier, path: path, suffix: suffix)
                    )
                }
            case .dot:
                try advance()
                if token.kind.isName {
                    try parseName(into: &path)
                } else {
                    return try parseSuffix(of: path, quantifier)
                }
            default:
                return .property(PropertySyntax(quantifier: quantifier, path: path, suffix: nil))
            }
        }
    }

    /// `.@count` and the like, after the dot.
    private mutating func parseSuffix(
        of path: PathSyntax,
        _ quantifier: Quantifier?
    ) throws(LocatedProblem) -> ExpressionSyntax {
        if let function = aggregateFunction(of: token.kind), quantifier == nil {
            try advance()
            var property: Text?
            if token.kind == .dot {
                try advance()
                property = try parseName()
            }
            return .aggregate(AggregateSyntax(path: path, function: function, property: property))
        }
        let suffix: PropertySyntax.Suffix
        switch token.kind {
        case .count: suffix = .count(String(decoding: bytes(of: token), as: UTF8.self))
        case .type: suffix = .type
        default: throw unexpected(expecting: "a property")
        }
        try advance()
        return .property(PropertySyntax(quantifier: quantifier, path: path, suffix: suffix))
    }

    private func aggregateFunction(of kind: QueryToken.Kind) -> AggregateFunction? {
        switch kind {
        case .max: .max
        case .min: .min
        case .sum: .sum
        case .average: .average
        default: nil
        }
    }

    private mutating func parseName(into path: inout PathSyntax) throws(LocatedProblem) {
        path.elements.append(.name(try parseName()))
    }

    private mutating func parseName() throws(LocatedProblem) -> Text {
        guard token.kind.isName else { throw unexpected(expecting: "a property") }
        let name = NameText.unescaped(bytes(of: token))
        try advance()
        return name
    }

    /// Returns the suffix if the brackets contain SIZE.
    private mutating func parseBracket(
        into path: inout PathSyntax
    ) throws(LocatedProblem) -> PropertySyntax.Suffix? {
        try advance()
        let content = token
        let element: PathSyntax.Element
        switch content.kind {
        case .natural:
            let value = IntegerText.parse(bytes(of: content))
            element = value == 0 ? .first : .index(Int(value))
        case .first: element = .first
        case .last: element = .last
        case .star: element = .all
        case .string:
            element = .key(Text(bytes: Array(bytes(of: content).dropFirst().dropLast())))
        case .argument: element = .argument(argumentNumber(of: content))
        case .size:
            let word = String(decoding: bytes(of: content), as: UTF8.self)
            try advance()
            try expect(.rightBracket, "\"]\"")
            return .count(word)
        default:
            throw unexpected(expecting: "an index, FIRST, LAST, * or a key")
        }
        try advance()
        try expect(.rightBracket, "\"]\"")
        path.elements.append(element)
        return nil
    }

    private mutating func parsePath() throws(LocatedProblem) -> PathSyntax {
        var path = PathSyntax(elements: [], offset: token.range.lowerBound)
        try parseName(into: &path)
        while true {
            switch token.kind {
            case .leftBracket:
                guard try parseBracket(into: &path) == nil else {
                    throw unexpected(expecting: "a path without SIZE")
                }
            case .dot:
                try advance()
                try parseName(into: &path)
            default:
                return path
            }
        }
    }

    // MARK: Lists

    mutating func parseList() throws(LocatedProblem) -> ListSyntax {
        let offset = token.range.lowerBound
        let quantifier = quantifier(of: token.kind)
        if quantifier != nil { try advance() }
        try expect(.leftBrace, "\"{\"")
        var elements: [ConstantSyntax] = []
        if token.kind != .comma, token.kind != .rightBrace {
            elements.append(try parseConstant())
        }
        while token.kind == .comma {
            try advance()
            elements.append(try parseConstant())
        }
        try expect(.rightBrace, "\",\" or \"}\"")
        return ListSyntax(quantifier: quantifier, elements: elements, offset: offset)
    }

    // MARK: Subqueries

    /// `SUBQUERY(path, $variable,`.
    mutating func openSubquery() throws(LocatedProblem) {
        let offset = token.range.lowerBound
        let isBehindText: Bool =
            if case .comparison(let operation, _, _) = operators.last {
                operation.isForText
            } else {
                false
            }
        try enterNesting()
        subqueryDepth += 1
        guard subqueryDepth <= limits.subqueries else {
            throw LocatedProblem(
                .limit,
                at: offset,
                "subqueries are nested more than \(limits.subqueries) deep",
                remedy: "simplify the query"
            )
        }
        try advance()
        try expect(.leftParenthesis, "\"(\"")
        let path = try parsePath()
        try expect(.comma, "\",\"")
        let variableOffset = token.range.lowerBound
        let variable = try parseName()
        guard variable.bytes.count > 1, variable.bytes[0] == UInt8(ascii: "$") else {
            throw LocatedProblem(
                .syntax,
                at: variableOffset,
                "\"\(variable)\" cannot name the variable of a subquery",
                remedy: "write a dollar sign and a name, such as $x"
            )
        }
        try expect(.comma, "\",\"")
        query.scopes.append(
            ScopeSyntax(path: path, variable: variable, parent: scope, offset: offset)
        )
        operators.append(
            .subquery(
                scope: query.scopes.count - 1,
                parent: scope,
                isBareOperand: isBehindText,
                offset: offset
            )
        )
        scope = query.scopes.count - 1
    }

    /// `).@count`.
    mutating func closeSubquery(condition: Int) throws(LocatedProblem) {
        guard case .subquery(let closed, let parent, _, let offset) = operators.removeLast() else {
            preconditionFailure("a subquery was opened")
        }
        query.scopes[closed].root = condition
        scope = parent
        subqueryDepth -= 1
        leaveNesting()
        try advance()
        try expect(.dot, "\".@count\"")
        try expect(.count, "\"@count\"")
        query.expressions.append(.subquery(scope: closed, offset: offset))
        operands.append(
            .expression(query.expressions.count - 1, isBare: true, offset: offset)
        )
    }

    // MARK: Shapes

    /// Checks a shape of GEOWITHIN, which is not evaluated.
    mutating func skipShape() throws(LocatedProblem) {
        let shape = token.kind
        if shape == .argument { return try advance() }
        guard [.geoBox, .geoCircle, .geoPolygon].contains(shape) else {
            throw unexpected(expecting: "geoBox, geoCircle or geoPolygon")
        }
        try advance()
        try expect(.leftParenthesis, "\"(\"")
        switch shape {
        case .geoBox:
            try skipPoint()
            try expect(.comma, "\",\"")
            try skipPoint()
        case .geoCircle:
            try skipPoint()
            try expect(.comma, "\",\"")
            try skipCoordinate()
        default:
            try skipLoop()
            while token.kind == .comma {
                try advance()
                try skipLoop()
            }
        }
        try expect(.rightParenthesis, "\")\"")
    }

    private mutating func skipLoop() throws(LocatedProblem) {
        try expect(.leftBrace, "\"{\"")
        try skipPoint()
        while token.kind == .comma {
            try advance()
            try skipPoint()
        }
        try expect(.rightBrace, "\"}\"")
    }

    private mutating func skipPoint() throws(LocatedProblem) {
        try expect(.leftBracket, "\"[\"")
        try skipCoordinate()
        try expect(.comma, "\",\"")
        try skipCoordinate()
        if token.kind == .comma {
            try advance()
            try expect(.float, "an altitude")
        }
        try expect(.rightBracket, "\"]\"")
    }

    private mutating func skipCoordinate() throws(LocatedProblem) {
        switch token.kind {
        case .float, .natural, .number, .argument: try advance()
        default: throw unexpected(expecting: "a number")
        }
    }

    // MARK: SORT, DISTINCT, LIMIT

    mutating func parseOrdering() throws(LocatedProblem) {
        while token.kind != .end {
            let offset = token.range.lowerBound
            switch token.kind {
            case .sort: query.ordering.append(try parseSort(at: offset))
            case .distinct: query.ordering.append(try parseDistinct(at: offset))
            case .limit: query.ordering.append(try parseLimit(at: offset))
            default: throw unexpected(expecting: "SORT, DISTINCT, LIMIT or the end")
            }
        }
    }

    private mutating func parseSort(at offset: Int) throws(LocatedProblem) -> OrderingSyntax {
        try advance()
        try expect(.leftParenthesis, "\"(\"")
        var paths: [PathSyntax] = []
        var ascending: [Bool] = []
        while true {
            paths.append(try parsePath())
            switch token.kind {
            case .ascending: ascending.append(true)
            case .descending: ascending.append(false)
            default: throw unexpected(expecting: "ASC or DESC")
            }
            try advance()
            guard token.kind == .comma else { break }
            try advance()
        }
        try expect(.rightParenthesis, "\")\"")
        return .sort(paths, ascending: ascending, offset: offset)
    }

    private mutating func parseDistinct(at offset: Int) throws(LocatedProblem) -> OrderingSyntax {
        try advance()
        try expect(.leftParenthesis, "\"(\"")
        var paths = [try parsePath()]
        while token.kind == .comma {
            try advance()
            paths.append(try parsePath())
        }
        try expect(.rightParenthesis, "\")\"")
        return .distinct(paths, offset: offset)
    }

    private mutating func parseLimit(at offset: Int) throws(LocatedProblem) -> OrderingSyntax {
        try advance()
        try expect(.leftParenthesis, "\"(\"")
        let number = try expect(.natural, "a number")
        try expect(.rightParenthesis, "\")\"")
        return .limit(IntegerText.parse(bytes(of: number)), offset: offset)
    }
}
