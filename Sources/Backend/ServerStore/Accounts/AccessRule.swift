import Changesets
import JSON
package import Scopes

/// A rule for reading or writing a partition: a condition over the partition and the user
/// (interfaces, 8).
///
/// `partition == user.id OR user.data.role == 'manager'`: comparisons with `==` and `!=`, combined
/// with `AND`, `OR`, `NOT` and parentheses; values are strings, integers, `true`, `false` and
/// `null`.
package struct AccessRule: Hashable, Sendable {
    /// The source text.
    package let text: String
    private let condition: Condition

    fileprivate indirect enum Condition: Hashable, Sendable {
        case value(Operand)
        case equal(Operand, Operand)
        case not(Condition)
        case and(Condition, Condition)
        case or(Condition, Condition)
    }

    fileprivate enum Operand: Hashable, Sendable {
        case constant(JSONValue)
        case partition
        case userID
        /// A member of the user's profile data.
        case userData([String])
    }

    /// A mistake in the text of a rule, for its author.
    package struct SyntaxError: Error, Hashable, Sendable, CustomStringConvertible {
        package let description: String
    }

    package init(_ text: String) throws(SyntaxError) {
        var parser = try AccessRuleParser(text)
        self.text = text
        self.condition = try parser.parse()
    }

    /// Whether the rule lets a user read or write a partition.
    package func admits(_ user: User, to partition: Partition) -> Bool {
        holds(condition, user, partition)
    }

    private func holds(_ condition: Condition, _ user: User, _ partition: Partition) -> Bool {
        switch condition {
        case .value(let operand): value(of: operand, user, partition) == .bool(true)
        case .equal(let left, let right): areEqual(left, right, user, partition)
        case .not(let inner): !holds(inner, user, partition)
        case .and(let left, let right):
            holds(left, user, partition) && holds(right, user, partition)
        case .or(let left, let right):
            holds(left, user, partition) || holds(right, user, partition)
        }
    }

    /// A missing member equals nothing, or `partition == user.data.team` would open the null
    /// partition to users without a team. Only a literal `null` in the rule matches it.
    private func areEqual(
        _ left: Operand,
        _ right: Operand,
        _ user: User,
        _ partition: Partition
    ) -> Bool {
        switch (value(of: left, user, partition), value(of: right, user, partition)) {
        case (let left?, let right?): left == right
        case (nil, _?): right == .constant(.null)
        case (_?, nil): left == .constant(.null)
        case (nil, nil): false
        }
    }

    /// Nil for a member of the profile that is missing or null.
    private func value(of operand: Operand, _ user: User, _ partition: Partition) -> JSONValue? {
        switch operand {
        case .constant(let value): value
        case .partition: partition.value
        case .userID: .string(user.id.rawValue)
        case .userData(let path):
            JSONValue.object(user.profileData)[path.map { $0[...] }].flatMap {
                $0 == .null ? nil : $0
            }
        }
    }
}

extension Partition {
    /// The value for comparison: ObjectIds and UUIDs as their text.
    fileprivate var value: JSONValue {
        switch self {
        case .null: .null
        case .string(let text): .string(text.description)
        case .int(let value): .integer(value)
        case .objectID(let value): .string("\(value)")
        case .uuid(let value): .string("\(value)")
        }
    }
}

// MARK: Reading

private struct AccessRuleParser {
    private enum Token: Hashable {
        case word(String)
        case constant(JSONValue)
        case symbol(String)
    }

    private var tokens: ArraySlice<Token>

    typealias Failure = AccessRule.SyntaxError

    init(_ text: String) throws(Failure) {
        var tokens: [Token] = []
        var rest = text[...]
        while let first = rest.first {
            if first.isWhitespace {
                rest.removeFirst()
            } else if first == "'" || first == "\"" {
                let body = rest.dropFirst().prefix { $0 != first }
                guard rest.dropFirst(body.count + 1).first == first else {
                    throw Failure(description: "a string does not end")
                }
                tokens.append(.constant(.string(String(body))))
                rest = rest.dropFirst(body.count + 2)
            } else if let symbol = ["==", "!=", "(", ")"].first(where: { rest.hasPrefix($0) }) {
                tokens.append(.symbol(symbol))
                rest = rest.dropFirst(symbol.count)
            } else {
                let word = rest.prefix { $0.isLetter || $0.isNumber || "._-$".contains($0) }
                guard !word.isEmpty else {
                    throw Failure(description: "\"\(first)\" is not expected here")
                }
                tokens.append(Int64(word).map { .constant(.integer($0)) } ?? .word(String(word)))
                rest = rest.dropFirst(word.count)
            }
        }
        self.tokens = tokens[...]
    }

    mutating func parse() throws(Failure) -> AccessRule.Condition {
        let condition = try alternative()
        guard tokens.isEmpty else { throw unexpected() }
        return condition
    }

    private mutating func alternative() throws(Failure) -> AccessRule.Condition {
        var condition = try conjunction()
        while take(word: "OR") { condition = .or(condition, try conjunction()) }
        return condition
    }

    private mutating func conjunction() throws(Failure) -> AccessRule.Condition {
        var condition = try term()
        while take(word: "AND") { condition = .and(condition, try term()) }
        return condition
    }

    private mutating func term() throws(Failure) -> AccessRule.Condition {
        if take(word: "NOT") { return .not(try term()) }
        if take(.symbol("(")) {
            let condition = try alternative()
            guard take(.symbol(")")) else { throw Failure(description: "a parenthesis is open") }
            return condition
        }
        let left = try operand()
        if take(.symbol("==")) { return .equal(left, try operand()) }
        if take(.symbol("!=")) { return .not(.equal(left, try operand())) }
        return .value(left)
    }

    private mutating func operand() throws(Failure) -> AccessRule.Operand {
        switch tokens.first {
        case .constant(let value)?:
            tokens.removeFirst()
            return .constant(value)
        case .word(let word)?:
            guard let operand = Self.operand(word) else {
                throw Failure(
                    description: "\"\(word)\" is unknown; there are partition, user.id and "
                        + "user.data.NAME"
                )
            }
            tokens.removeFirst()
            return operand
        case .symbol?, nil:
            throw unexpected()
        }
    }

    private static func operand(_ word: String) -> AccessRule.Operand? {
        switch word.lowercased() {
        case "true": return .constant(.bool(true))
        case "false": return .constant(.bool(false))
        case "null": return .constant(.null)
        case "partition": return .partition
        case "user.id": return .userID
        default:
            let parts = word.split(separator: ".", omittingEmptySubsequences: false)
            guard parts.count > 2, parts[0] == "user", parts[1] == "data",
                !parts.contains(where: \.isEmpty)
            else { return nil }
            return .userData(parts.dropFirst(2).map(String.init))
        }
    }

    private mutating func take(word: String) -> Bool {
        guard case .word(let next)? = tokens.first, next.uppercased() == word else { return false }
        tokens.removeFirst()
        return true
    }

    private mutating func take(_ token: Token) -> Bool {
        guard tokens.first == token else { return false }
        tokens.removeFirst()
        return true
    }

    private func unexpected() -> Failure {
        switch tokens.first {
        case nil: Failure(description: "it ends too early")
        case .word(let word)?: Failure(description: "\"\(word)\" is not expected here")
        case .symbol(let symbol)?: Failure(description: "\"\(symbol)\" is not expected here")
        case .constant?: Failure(description: "a value is not expected here")
        }
    }
}

/// The rules for reading and writing the partitions of an app; without a rule all users may.
package struct AccessRules: Hashable, Sendable {
    package var read: AccessRule?
    package var write: AccessRule?

    package init(read: AccessRule? = nil, write: AccessRule? = nil) {
        self.read = read
        self.write = write
    }
}
