import Changesets
package import JSON

/// A rule: a condition over values that its user names, such as `partition == user.id` (interfaces,
/// 8).
///
/// Compares names, strings, integers, `true`, `false` and `null` with `==` and `!=`, or looks for one
/// with `IN` in a list that its user has; combined with `AND`, `OR`, `NOT` and parentheses. A value
/// without a comparison holds if it is `true`.
package struct RuleCondition<Name: Hashable & Sendable>: Hashable, Sendable {
    /// Each after its parts, the whole condition last: evaluation is a loop, however deep the text.
    private let steps: [Step]

    private enum Step: Hashable, Sendable {
        case equal(Operand, Operand)
        /// The first is an element of the second.
        case isElement(Operand, Operand)
        case not(Int)
        case and(Int, Int)
        case or(Int, Int)
    }

    private enum Operand: Hashable, Sendable {
        case constant(JSONValue)
        case name(Name)
    }

    /// - Parameters:
    ///   - known: lists the names, for an error: `partition, user.id and user.data.NAME`.
    ///   - name: the meaning of a word, nil if it has none.
    package init(
        _ text: String,
        known: String,
        name: @escaping (String) -> Name?
    ) throws(QueryError) {
        let query = try QueryParser.parse(rule: text)
        do throws(LocatedProblem) {
            self.steps = try RuleReader(query: query, known: known, name: name).steps()
        } catch {
            throw error.located(in: query.text)
        }
    }

    private init(steps: [Step]) {
        self.steps = steps
    }

    /// Never holds.
    package static var never: RuleCondition { RuleCondition(steps: []) }

    /// The names that the rule contains.
    package var names: Set<Name> {
        Set(
            steps.flatMap { step -> [Name] in
                switch step {
                case .equal(let left, let right), .isElement(let left, let right):
                    [left, right].compactMap { if case .name(let name) = $0 { name } else { nil } }
                case .not, .and, .or: []
                }
            }
        )
    }

    /// Whether the rule holds.
    ///
    /// - Parameter value: the value of a name, nil if it is missing or null.
    package func holds(_ value: (Name) -> JSONValue?) -> Bool {
        var results: [Bool] = []
        results.reserveCapacity(steps.count)
        for step in steps {
            switch step {
            case .equal(let left, let right): results.append(areEqual(left, right, value))
            case .isElement(let element, let list):
                results.append(isElement(element, of: list, value))
            case .not(let part): results.append(!results[part])
            case .and(let left, let right): results.append(results[left] && results[right])
            case .or(let left, let right): results.append(results[left] || results[right])
            }
        }
        return results.last ?? false
    }

    /// A missing value equals nothing, or `partition == user.data.team` would open the null
    /// partition to users without a team. Only a literal `null` in the rule matches it.
    private func areEqual(
        _ left: Operand,
        _ right: Operand,
        _ value: (Name) -> JSONValue?
    ) -> Bool {
        switch (self.value(of: left, value), self.value(of: right, value)) {
        case (let left?, let right?): left == right
        case (nil, _?): right == .constant(.null)
        case (_?, nil): left == .constant(.null)
        case (nil, nil): false
        }
    }

    /// A missing value, or one that is not a list, has no elements.
    private func isElement(
        _ element: Operand,
        of list: Operand,
        _ value: (Name) -> JSONValue?
    ) -> Bool {
        guard let element = self.value(of: element, value),
            case .array(let elements)? = self.value(of: list, value)
        else { return false }
        return elements.contains(element)
    }

    private func value(of operand: Operand, _ value: (Name) -> JSONValue?) -> JSONValue? {
        switch operand {
        case .constant(let constant): constant
        case .name(let name): value(name)
        }
    }
}

extension RuleCondition {
    /// Translates the syntax of a rule.
    private struct RuleReader {
        let query: ParsedQuery
        let known: String
        let name: (String) -> Name?

        func steps() throws(LocatedProblem) -> [Step] {
            var steps: [Step] = []
            // Of each condition of the syntax, the step with its result.
            var results: [Int] = []
            for condition in query.conditions {
                switch condition {
                case .comparison(let comparison):
                    let left = try operand(comparison.sides.left)
                    let right = try operand(comparison.sides.right)
                    steps.append(
                        comparison.operation == .in ? .isElement(left, right) : .equal(left, right)
                    )
                    if comparison.operation == .notEqual { steps.append(.not(steps.count - 1)) }
                case .not(let part): steps.append(.not(results[part]))
                case .and(let left, let right): steps.append(.and(results[left], results[right]))
                case .or(let left, let right): steps.append(.or(results[left], results[right]))
                case .truth, .between, .geoWithin:
                    preconditionFailure("the lexer of rules knows no such words")
                }
                results.append(steps.count - 1)
            }
            return steps
        }

        private func operand(_ expression: Int) throws(LocatedProblem) -> Operand {
            switch query.expressions[expression] {
            case .constant(let constant):
                guard case .value(let value) = constant.literal else { break }
                switch value {
                case .null: return .constant(.null)
                case .bool(let value): return .constant(.bool(value))
                case .int(let value): return .constant(.integer(value))
                case .string(let bytes):
                    return .constant(.string(String(decoding: bytes, as: UTF8.self)))
                default: break
                }
            case .property(let property):
                return .name(try name(property.path))
            case .list, .aggregate, .subquery, .operation: break
            }
            preconditionFailure("the lexer of rules knows no other operands")
        }

        private func name(_ path: PathSyntax) throws(LocatedProblem) -> Name {
            guard case .name(let text) = path.elements[0] else {
                preconditionFailure("a path begins with a name")
            }
            let word = text.description
            if let name = name(word) { return name }
            throw LocatedProblem(
                .unknownName,
                at: path.offset,
                "\"\(word)\" is unknown",
                remedy: "use \(known)"
            )
        }
    }
}
