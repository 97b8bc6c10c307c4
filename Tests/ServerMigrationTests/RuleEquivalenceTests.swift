import BSON
import Changesets
import JSON
import Schemas
import Scopes
import ServerStore
import TestSupport
import Testing

@testable import Migration

/// Moving an app, 4.1: what a translated rule admits, hosted semantics admitted.
@Suite("Random permissions of partitions")
struct RuleEquivalenceTests {
    private enum Key: String, CaseIterable {
        case partition = "%%partition"
        case user = "%%user.id"
        case type = "%%user.type"
        case email = "%%user.data.email"
        case role = "%%user.data.role"
        case team = "%%user.custom_data.team"
        case branches = "%%user.custom_data.branches"
    }

    private enum Operand {
        case text(String)
        case key(Key)

        var json: String {
            switch self {
            case .text(let text): "\"\(text)\""
            case .key(let key): "\"\(key.rawValue)\""
            }
        }
    }

    private indirect enum Expression {
        case constant(Bool)
        case and([Expression])
        case or([Expression])
        case nor([Expression])
        case not(Expression)
        case equal(Key, Operand, isExplicit: Bool)
        case unequal(Key, Operand)
        case element(Key, [String], isNegated: Bool)
        case exists(Key)
        /// Not known to the translation; each as it was on the hosted service.
        case less(Key, String)
        case function

        static func random(_ depth: Int, _ random: inout SplitMix64) -> Expression {
            func some() -> [Expression] {
                (0..<Int.random(in: 1...3, using: &random)).map { _ in
                    Expression.random(depth - 1, &random)
                }
            }
            let key = Key.allCases.randomElement(using: &random) ?? .partition
            let text = ["a", "b", "u1", "normal"].randomElement(using: &random) ?? "a"
            let other = Key.allCases.randomElement(using: &random) ?? .user
            let operand = Bool.random(using: &random) ? Operand.text(text) : .key(other)
            switch Int.random(in: 0..<(depth > 0 ? 16 : 9), using: &random) {
            case 0, 1, 2:
                return .equal(key, operand, isExplicit: Bool.random(using: &random))
            case 3, 4: return .unequal(key, operand)
            case 5:
                return .element(
                    key,
                    ["a", text, "c"],
                    isNegated: Bool.random(using: &random)
                )
            case 6: return .exists(key)
            case 7: return Bool.random(using: &random) ? .function : .less(key, text)
            case 8: return .constant(Bool.random(using: &random))
            case 9, 10: return .and(some())
            case 11, 12: return .or(some())
            case 13: return .nor(some())
            default: return .not(.random(depth - 1, &random))
            }
        }

        var json: String {
            func list(_ parts: [Expression]) -> String {
                "[" + parts.map(\.json).joined(separator: ",") + "]"
            }
            func texts(_ texts: [String]) -> String {
                "[" + texts.map { "\"\($0)\"" }.joined(separator: ",") + "]"
            }
            return switch self {
            case .constant(let value): "\(value)"
            case .and(let parts): #"{"%and":\#(list(parts))}"#
            case .or(let parts): #"{"$or":\#(list(parts))}"#
            case .nor(let parts): #"{"%nor":\#(list(parts))}"#
            case .not(let part): #"{"%not":\#(part.json)}"#
            case .equal(let key, let operand, false): #"{"\#(key.rawValue)":\#(operand.json)}"#
            case .equal(let key, let operand, true):
                #"{"\#(key.rawValue)":{"$eq":\#(operand.json)}}"#
            case .unequal(let key, let operand):
                #"{"\#(key.rawValue)":{"$ne":\#(operand.json)}}"#
            case .element(let key, let list, let isNegated):
                #"{"\#(key.rawValue)":{"\#(isNegated ? "$nin" : "%in")":\#(texts(list))}}"#
            case .exists(let key): #"{"\#(key.rawValue)":{"$exists":true}}"#
            case .less(let key, let text): #"{"\#(key.rawValue)":{"$lt":"\#(text)"}}"#
            case .function: #"{"%function":{"name":"decide","arguments":["%%partition"]}}"#
            }
        }
    }

    /// A user and a partition, and what the hosted service would have computed for what is not translated.
    private struct Case {
        enum Value: Equatable {
            case missing
            case null
            case text(String)
            case list([String])
        }

        var partition: Partition
        var values: [Key: Value]
        var function: Bool

        func value(_ operand: Operand) -> Value {
            switch operand {
            case .text(let text): .text(text)
            case .key(let key): values[key] ?? .missing
            }
        }

        /// A value missing equals nothing; a list of a user's has the value as an element.
        private func match(_ left: Value, _ right: Value) -> Bool {
            switch (left, right) {
            case (.missing, _), (_, .missing): false
            case (.list(let list), .text(let text)), (.text(let text), .list(let list)):
                list.contains(text)
            default: left == right
            }
        }

        func hosted(_ expression: Expression) -> Bool {
            switch expression {
            case .constant(let value): value
            case .and(let parts): parts.allSatisfy { hosted($0) }
            case .or(let parts): parts.contains { hosted($0) }
            case .nor(let parts): !parts.contains { hosted($0) }
            case .not(let part): !hosted(part)
            case .equal(let key, let operand, _): match(value(.key(key)), value(operand))
            case .unequal(let key, let operand): !match(value(.key(key)), value(operand))
            case .element(let key, let list, let isNegated):
                list.contains { match(value(.key(key)), .text($0)) } != isNegated
            case .exists(let key): value(.key(key)) != .missing
            case .less, .function: function
            }
        }

        func admits(_ rule: AccessRule) -> Bool {
            func json(_ key: Key) -> JSONValue? {
                switch values[key] ?? .missing {
                case .missing: nil
                case .null: .null
                case .text(let text): .string(text)
                case .list(let list): .array(list.map { .string($0) })
                }
            }
            guard case .text(let id)? = values[.user] else { return false }
            let user = User(
                id: UserID(id),
                identities: [],
                isDisabled: false,
                data: ["email": json(.email), "role": json(.role)].compactMapValues(\.self)
            )
            let custom = ["team": json(.team), "branches": json(.branches)]
                .compactMapValues(\.self)
            return rule.admits(
                user,
                to: partition,
                customData: custom.isEmpty ? nil : .object(custom)
            )
        }

        static func random(_ random: inout SplitMix64) -> Case {
            func one<Element>(_ choices: [Element], _ random: inout SplitMix64) -> Element {
                choices[Int.random(in: choices.indices, using: &random)]
            }
            let partition = one(["a", "b", "c", "u1", nil], &random)
            return Case(
                partition: partition.map { .string(Text($0)) } ?? .null,
                values: [
                    .partition: partition.map { .text($0) } ?? .null,
                    .user: .text(one(["u1", "u2"], &random)), .type: .text("normal"),
                    .email: one([.missing, .text("a"), .text("b")], &random),
                    .role: one([.missing, .text("a"), .list(["a", "b"]), .list([])], &random),
                    .team: one([.missing, .text("a"), .text("c")], &random),
                    .branches: one([.missing, .list(["a", "u1"]), .list([])], &random),
                ],
                function: Bool.random(using: &random)
            )
        }
    }

    private static let person = ClassSchema(
        name: "Person",
        kind: .topLevel(PrimaryKeySchema(name: "_id", type: .objectID, isNullable: false)),
        properties: [
            PropertySchema(name: "branches", type: .string, isNullable: false, collection: .list),
            PropertySchema(name: "team", type: .string, isNullable: true),
        ]
    )

    @Test("What ours admits, an evaluator of hosted semantics admits; the same if it is exact")
    func neverWider() throws {
        let rules = PartitionRules(
            kind: .string,
            user: KnownUserData(custom: .available(Self.person)),
            reader: RuleExpressionReader(constants: RuleConstants())
        )
        var random = SplitMix64(seed: 19)
        var (exact, admitted) = (0, 0)
        for _ in 0..<3000 {
            let expression = Expression.random(4, &random)
            let tree = try JSONTree(parsing: Array(expression.json.utf8))
            let outcome = rules.translate(tree, path: "rule")
            let rule = try AccessRule(outcome.text)
            if outcome.quality == .exact { exact += 1 }
            for _ in 0..<30 {
                let drawn = Case.random(&random)
                let (ours, hosted) = (drawn.admits(rule), drawn.hosted(expression))
                if ours { admitted += 1 }
                let isWider = ours && !hosted
                let differs = outcome.quality == .exact && ours != hosted
                guard isWider || differs else { continue }
                Issue.record("\(expression.json) became \(outcome.text): \(drawn)")
                return
            }
        }
        print("random permissions: 3000, \(exact) exact, \(admitted) of 90000 cases admitted")
        #expect(exact > 500)
        #expect(admitted > 10_000)
    }
}
