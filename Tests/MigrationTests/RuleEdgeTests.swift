import BSON
import Changesets
import Schemas
import Scopes
import Testing

@testable import Migration

/// Rules that must not become wider than the hosted service's (moving an app, 4.1).
@Suite("Edges of rules of exports")
struct RuleEdgeTests {
    private static let owner = ClassSchema(
        name: "Order",
        kind: .topLevel(PrimaryKeySchema(name: "_id", type: .objectID, isNullable: false)),
        properties: [
            PropertySchema(name: "owner", type: .string, isNullable: true),
            PropertySchema(name: "tags", type: .string, isNullable: false, collection: .list),
        ]
    )

    private func tree(_ text: String) throws -> JSONTree {
        try JSONTree(parsing: Array(text.utf8))
    }

    private func filter(
        _ text: String,
        _ custom: KnownUserData.CustomData = .absent
    ) throws -> FilterTranslation.Outcome {
        FilterTranslation(
            owner: Self.owner,
            queryable: ["_id", "owner", "tags"],
            user: KnownUserData(custom: custom),
            reader: RuleExpressionReader(constants: RuleConstants(), keepsLists: true)
        ).translate(try tree(text), path: "filter")
    }

    @Test("MongoDB refuses empty lists of conditions, and so does a rule here, also negated")
    func emptyLists() throws {
        for word in ["$and", "%and", "$or", "$nor"] {
            for text in ["{\"\(word)\":[]}", "{\"%not\":{\"\(word)\":[]}}"] {
                let outcome = try filter(text)
                #expect(outcome.text == "FALSEPREDICATE", "\(text)")
                #expect(outcome.reasons.map(\.code) == ["import.rule_syntax"], "\(text)")
            }
        }
        let rules = PartitionRules(
            kind: .string,
            user: KnownUserData(custom: .absent),
            reader: RuleExpressionReader(constants: RuleConstants())
        )
        #expect(rules.translate(try tree("{\"$and\":[]}"), path: "read").text == "false")
    }

    @Test("$all of an empty list matches nothing")
    func containsAllOfNothing() throws {
        #expect(try filter("{\"tags\":{\"$all\":[]}}").text == "FALSEPREDICATE")
        #expect(try filter("{\"%not\":{\"tags\":{\"$all\":[]}}}").text == "TRUEPREDICATE")
    }

    @Test("A field compared with custom user data that hosted users did not have never opens")
    func missingCustomData() throws {
        let rule = #"{"owner":"%%user.custom_data.boss"}"#
        let plain = try filter(rule)
        #expect(plain.text == "FALSEPREDICATE")
        #expect(plain.quality == .narrower)
        let negated = try filter("{\"%not\":\(rule)}")
        #expect(negated.text == "FALSEPREDICATE")
        #expect(negated.reasons.map(\.code) == ["import.rule_unsupported"])
        // Compared with a constant, the missing value decides alone.
        let constant = try filter(#"{"%not":{"%%user.custom_data.banned":true}}"#)
        #expect(constant.text == "TRUEPREDICATE")
    }

    @Test("Each part that allows less has a reason, also the opposite of a narrower one")
    func negatedGuard() throws {
        let text = #"{"%not":{"owner":"%%user.custom_data.team"}}"#
        let outcome = try filter(text, .available(nil))
        #expect(outcome.text == "FALSEPREDICATE")
        #expect(outcome.reasons.map(\.path) == ["filter.%not.owner"])
    }

    @Test("A permission for the whole object counts more than those of its fields")
    func wholeObject() throws {
        var conversion = RoleConversion(
            owner: Self.owner,
            queryable: ["_id", "owner", "tags"],
            user: KnownUserData(custom: .absent),
            reader: RuleExpressionReader(constants: RuleConstants()),
            file: "rules.json"
        )
        let text = """
            {"name":"r","apply_when":{},"document_filters":{"read":true,"write":true},"read":true,
            "fields":{"owner":{"read":false,"write":true}}}
            """
        let role = try #require(conversion.roles([try tree(text)], path: "roles").first)
        #expect(role.read == "true")
        #expect(role.write == "true")
        #expect(role.fields.map(\.read) == [true])
        #expect(role.fields.map(\.write) == [true])
        #expect(role.otherFields?.read == true)
        #expect(role.otherFields?.write == false)
    }
}
