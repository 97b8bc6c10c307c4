import Changesets
import Documents
import Query
import Schemas
import Settings
import Testing

@testable import Config

@Suite("Subscriptions in a configuration")
struct SubscriptionTests {
    private static let schema = RealmSchema([
        ClassSchema(
            name: "Order",
            kind: .topLevel(.init(name: "_id", type: .int, isNullable: false)),
            properties: [
                PropertySchema(name: "store", type: .string, isNullable: true),
                PropertySchema(name: "n", type: .int, isNullable: false),
            ]
        )
    ])

    /// The queries of the realm `orders`, for a user.
    private func queries(
        _ subscriptions: String,
        environment: [String: String] = [:],
        userID: String = "u1"
    ) throws -> [[UInt8]] {
        let subscriptions = subscriptions.split(separator: "\n").map { "      \($0)" }
            .joined(separator: "\n")
        let text = """
            apps: { shop: { app_id: shop-abcde, base_url: "https://sync.example.com" } }
            users: { till: { app: shop, provider: anonymous } }
            realms:
              orders:
                user: till
                subscriptions:
            \(subscriptions)

            """
        let result = ConfigurationParser.load(
            main: ConfigurationSource(file: "realm-agent.yaml", bytes: Array(text.utf8)),
            dropIns: [],
            inputs: ConfigurationInputs(
                environment: environment,
                readFile: { _ in .failure(FileFailure(reason: "no such file")) }
            )
        )
        let configuration = try #require(result.configuration, "\(result.diagnostics)")
        guard case .subscriptions(let subscriptions) = configuration.realms[0].scope else {
            return []
        }
        return subscriptions.map { $0.query.text(userID: userID) }
    }

    private func matches(_ query: [UInt8], _ store: String?, _ number: Int64 = 0) throws -> Bool {
        let checked = try SubscriptionRules(schema: Self.schema).check(query, of: "Order")
        let owner = try #require(Self.schema["Order"])
        let value: Scalar = store.map { .string(Text($0)) } ?? .null
        let document = Document(values: [.scalar(value), .scalar(.int(number))])
        return QueryEvaluator(checked).matches(
            DocumentObject(key: .int(1), document, of: owner)
        )
    }

    @Test(
        "A value that is filled in stays one string, with any content",
        arguments: [
            "42", "", "a' OR TRUEPREDICATE OR store == 'b", #"a" OR TRUEPREDICATE OR store == ""#,
            #"\"#, #"\' OR TRUEPREDICATE OR '"#, "x) OR (TRUEPREDICATE", "ä\u{1f600}", "a\nb",
            "${user.id}", "$0", #"B64""#, "null", "TRUEPREDICATE",
        ]
    )
    func hostileValues(value: String) throws {
        let yaml = """
            - { class: Order, query: "store == ${env.STORE} AND n == 0" }
            - { class: Order, query: "store == '${env.STORE}' AND n == 0" }
            - { class: Order, query: 'store == "${env.STORE}" AND n == 0' }
            - { class: Order, query: "store == ${user.id} AND n == 0" }
            - { class: Order, query: "store == '${user.id}' AND n == 0" }
            - { class: Order, query: "store IN {'x', ${env.STORE}, '${user.id}'} AND n == 0" }
            """
        let queries = try queries(yaml, environment: ["STORE": value], userID: value)
        #expect(queries.count == 6)
        for query in queries {
            let text = String(decoding: query, as: UTF8.self)
            #expect(try matches(query, value), "\(text)")
            #expect(try !matches(query, value, 1), "\(text)")
            #expect(try !matches(query, "something else"), "\(text)")
            #expect(try !matches(query, nil), "\(text)")
        }
    }

    @Test("A placeholder is a part of the string around it, and `$${` is not one")
    func partsOfStrings() throws {
        let yaml = #"""
            - { class: Order, query: "store BEGINSWITH 'region-${env.REGION}/${user.id}'" }
            - { class: Order, query: "store == '$${user.id}'" }
            """#
        let queries = try queries(yaml, environment: ["REGION": "n'"])
        #expect(try matches(queries[0], "region-n'/u1-x"))
        #expect(try !matches(queries[0], "region-n'/u2"))
        #expect(try matches(queries[1], "${user.id}"))
    }

    @Test("Escapes in strings are decoded once; strings without any stay as written")
    func escapes() throws {
        let yaml = ##"""
            - { class: Order, query: 'store == "a\"b\\\u00e4\ud83d\ude00\n"' }
            - { class: Order, query: "store == 'plain'" }
            - { class: Order }
            """##
        let queries = try queries(yaml)
        #expect(try matches(queries[0], "a\"b\\ä\u{1f600}\n"))
        #expect(String(decoding: queries[1], as: UTF8.self) == "store == 'plain'")
        #expect(String(decoding: queries[2], as: UTF8.self) == "TRUEPREDICATE")
    }
}
