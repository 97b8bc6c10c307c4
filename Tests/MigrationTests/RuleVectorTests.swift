import BSON
import Changesets
import Schemas
import Scopes
import TestSupport
import Testing

@testable import Migration

@Suite(
    "Rules of exports",
    .enabled(if: Vectors.areRequiredOrPresent, "the golden vectors are not here")
)
struct RuleVectorTests {
    private static let constants = RuleConstants(values: [
        "open": .constant(.array([.string("public"), .string("north")])),
        "one": .constant(.string("x")), "hidden": .secret,
    ])

    private static let person = ClassSchema(
        name: "Person",
        kind: .topLevel(PrimaryKeySchema(name: "_id", type: .objectID, isNullable: false)),
        properties: [
            PropertySchema(name: "branches", type: .string, isNullable: false, collection: .list),
            PropertySchema(name: "isAdmin", type: .bool, isNullable: true),
            PropertySchema(name: "team", type: .string, isNullable: true),
        ]
    )

    private func table(_ file: String) throws -> JSONTree {
        try JSONTree(parsing: Vectors.bytes(of: "migration/rules/\(file)"))
    }

    private func quality(_ text: String?) -> RuleQuality {
        switch text {
        case "exact": .exact
        case "stricter": .narrower
        default: .impossible
        }
    }

    private func partitionRules(_ type: String) -> PartitionRules {
        let kinds: [String: Partition.Kind] = [
            "string": .string, "objectId": .objectID, "uuid": .uuid, "long": .int,
        ]
        return PartitionRules(
            kind: kinds[type] ?? .string,
            user: KnownUserData(custom: .available(Self.person)),
            reader: RuleExpressionReader(constants: Self.constants)
        )
    }

    @Test("Permissions of partitions, also negated")
    func partitions() throws {
        let cases = try #require(try table("partition.json")["cases"]?.elements)
        var count = 0
        for test in cases {
            let id = test["id"]?.text ?? "?"
            let rules = partitionRules(test["type"]?.text ?? "")
            let expression = test["expression"]?.text == "<absent>" ? nil : test["expression"]
            let outcome = rules.translate(expression, path: "rule")
            let extended = test["extended"]?.text
            #expect(outcome.text == (extended ?? test["rule"]?.text), "\(id)")
            if extended == nil {
                let wanted = quality(test["result"]?.text)
                // "Stricter" and "refused" differ in what is left.
                #expect((outcome.quality == .exact) == (wanted == .exact), "\(id)")
                if let code = test["code"]?.text {
                    #expect(outcome.reasons.map(\.code).contains(code), "\(id)")
                } else if wanted == .exact {
                    #expect(outcome.reasons.isEmpty, "\(id)")
                }
            }
            if let expression, let negated = test["negated"]?.text, extended == nil {
                let not = JSONTree.object([.init(name: "%not", value: expression)])
                #expect(rules.translate(not, path: "rule").text == negated, "not \(id)")
            }
            count += 1
        }
        print("partition rules: \(count) cases")
        #expect(count > 40)
    }

    @Test("The right to write includes that to read")
    func readAndWrite() throws {
        let cases = try #require(try table("partition.json")["read_and_write"]?.elements)
        for test in cases {
            let rules = partitionRules("string")
            let read = rules.translate(test["read"], path: "read")
            let write = rules.translate(test["write"], path: "write")
            let access = test["access"]
            #expect(PartitionRules.read(read, orWrite: write) == access?["read"]?.text)
            #expect(write.text == access?["write"]?.text)
        }
        #expect(cases.count == 4)
    }

    private static let filtered = ClassSchema(
        name: "Thing",
        kind: .topLevel(PrimaryKeySchema(name: "_id", type: .objectID, isNullable: false)),
        properties: [
            PropertySchema(name: "s", type: .string, isNullable: true),
            PropertySchema(name: "n", type: .int, isNullable: true),
            PropertySchema(name: "o", type: .objectID, isNullable: true),
            PropertySchema(name: "u", type: .uuid, isNullable: true),
            PropertySchema(name: "b", type: .bool, isNullable: true),
            PropertySchema(name: "list", type: .string, isNullable: false, collection: .list),
            PropertySchema(name: "hidden", type: .string, isNullable: true),
            PropertySchema(name: "e", type: .link(target: "E"), isNullable: true),
        ]
    )

    private func conversion() -> RoleConversion {
        RoleConversion(
            owner: Self.filtered,
            queryable: ["_id", "s", "n", "o", "u", "b", "list"],
            user: KnownUserData(custom: .available(nil)),
            reader: RuleExpressionReader(constants: Self.constants),
            file: "rules.json"
        )
    }

    @Test("Document filters")
    func filters() throws {
        let cases = try #require(try table("flexible.json")["filters"]?.elements)
        var count = 0
        for test in cases {
            let id = test["id"]?.text ?? "?"
            let translation = FilterTranslation(
                owner: Self.filtered,
                queryable: conversion().queryable,
                user: KnownUserData(custom: .available(nil)),
                reader: RuleExpressionReader(constants: Self.constants, keepsLists: true)
            )
            let outcome = translation.translate(test["expression"], path: "filter")
            // Text of a user compared with an ObjectId is converted here without being asked.
            let wanted = test["filter"]?.text?.replacing("oid($user.id)", with: "$user.id")
            #expect(outcome.text == wanted, "\(id)")
            #expect(
                (outcome.quality == .exact) == (test["result"]?.text == "exact"),
                "\(id)"
            )
            #expect(
                (outcome.incompatible != nil) == (test["role"]?.text == "incompatible"),
                "\(id)"
            )
            if let code = test["code"]?.text, code != "import.role_incompatible" {
                #expect(outcome.reasons.map(\.code).contains(code), "\(id)")
            }
            if let negated = test["negated"]?.text, let expression = test["expression"] {
                let not = JSONTree.object([.init(name: "%not", value: expression)])
                #expect(translation.translate(not, path: "filter").text == negated, "not \(id)")
            }
            count += 1
        }
        print("filters: \(count) cases")
        #expect(count > 25)
    }

    @Test("Roles")
    func roles() throws {
        let cases = try #require(try table("flexible.json")["roles"]?.elements)
        var count = 0
        for test in cases {
            let id = test["id"]?.text ?? "?"
            var conversion = conversion()
            let trees = test["roles"]?.elements ?? [test["role"]].compactMap(\.self)
            let roles = conversion.roles(trees, path: "roles")
            let codes = conversion.findings.all.map(\.code)
            if let code = test["code"]?.text { #expect(codes.contains(code), "\(id)") }
            if test["code"]?.text == "import.role_incompatible" {
                #expect(roles.allSatisfy { $0.read == "false" && $0.write == "false" }, "\(id)")
            }
            func word(_ key: String) -> String? {
                test[key]?.text.map(ImportedRole.permission)
            }
            if let read = word("read") { #expect(roles.first?.read == read, "\(id)") }
            if let write = word("write") { #expect(roles.first?.write == write, "\(id)") }
            if let insert = word("insert") { #expect((roles.first?.insert ?? "true") == insert) }
            if let delete = word("delete") { #expect((roles.first?.delete ?? "true") == delete) }
            switch id {
            case "apply-when-unsupported":
                #expect(roles[0].applyWhen == nil)
                #expect(roles[0].read == "false")
                #expect(roles[1].read == "true")
            case "no-match":
                #expect(roles[0].applyWhen == "user.data.email == 'x'")
            case "deny-null":
                #expect(roles[0].applyWhen == "user.custom_data.crew == null")
                #expect(codes.isEmpty)
            case "grant-null":
                #expect(roles[0].applyWhen == nil)
                #expect(roles[0].read == "false")
            default: break
            }
            count += 1
        }
        print("roles: \(count) cases")
        #expect(count == cases.count)
    }
}
