import Changesets
import Schemas
import TestSupport
import Testing
import Versions

@testable import Subscriptions

@Suite("Changes to a subscription set")
struct SubscriptionEditTests {
    private static func content(
        _ query: Text,
        named name: Text? = nil,
        of className: Text = "Task"
    ) -> SubscriptionContent {
        SubscriptionContent(name: name, className: className, query: query)
    }

    /// The set after operations at the times 1, 2, 3 …; names, classes and queries.
    private func edit(_ operations: SubscriptionOperation...) throws -> [Subscription] {
        var random = SplitMix64(seed: 1)
        var subscriptions: [Subscription] = []
        for (index, operation) in operations.enumerated() {
            var edit = SubscriptionEdit(of: subscriptions, now: Int64(index + 1))
            try edit.apply(operation, using: &random)
            subscriptions = edit.subscriptions
        }
        return subscriptions
    }

    @Test("An unnamed subscription is added once; named ones beside it")
    func unnamed() throws {
        let set = try edit(
            .add(Self.content("a == 1")),
            .add(Self.content("a == 1")),
            .add(Self.content("a == 1", named: "one")),
            .add(Self.content("a == 1", named: "two"))
        )
        #expect(set.map(\.name) == [nil, "one", "two"])
        #expect(Set(set.map(\.id)).count == 3)
        #expect(set[0].createdAt == 1 && set[0].updatedAt == 2)
    }

    @Test("A name is taken, or its subscription gets class and query")
    func named() throws {
        #expect(throws: SubscriptionError.self) {
            try edit(
                .add(Self.content("a == 1", named: "x")),
                .add(Self.content("a == 2", named: "x"))
            )
        }
        let set = try edit(
            .put(Self.content("a == 1", named: "x")),
            .put(Self.content("b == 2", named: "x", of: "Note"))
        )
        #expect(set.map(\.content) == [Self.content("b == 2", named: "x", of: "Note")])
        #expect(set[0].createdAt == 1 && set[0].updatedAt == 2)
    }

    @Test("An update keeps the identity of a named subscription, and replaces an unnamed one")
    func update() throws {
        let set = try edit(
            .add(Self.content("a == 1", named: "x")),
            .add(Self.content("a == 1")),
            .update(.name("x"), query: "a == 2"),
            .update(.query(className: "Task", query: "a == 1"), query: "a == 3")
        )
        #expect(set.map(\.query) == ["a == 2", "a == 3"])
        #expect(set.map(\.createdAt) == [1, 4])
        do {
            _ = try edit(.update(.name("x"), query: "a == 2"))
            Issue.record("there is nothing to update")
        } catch let error as SubscriptionError {
            #expect(error.kind == .notFound && error.description.contains(#"subscription "x""#))
        }
    }

    @Test("Removals by name, query, class, id, all unnamed, and all")
    func remove() throws {
        let all: [SubscriptionOperation] = [
            .add(Self.content("a == 1", named: "x")), .add(Self.content("a == 1")),
            .add(Self.content("a == 2")), .add(Self.content("c", of: "Note")),
        ]
        func rest(_ selector: SubscriptionSelector) throws -> [Text] {
            try edit(all[0], all[1], all[2], all[3], .remove(selector)).map(\.query)
        }
        #expect(try rest(.name("x")) == ["a == 1", "a == 2", "c"])
        #expect(try rest(.query(className: "Task", query: "a == 1")) == ["a == 2", "c"])
        #expect(try rest(.className("Task")) == ["c"])
        #expect(try rest(.unnamed) == ["a == 1"])
        #expect(try rest(.all) == [])
        #expect(try rest(.name("y")).count == 4)
        let id = try edit(all[0], all[1])[1].id
        #expect(try rest(.id(id)) == ["a == 1", "a == 2", "c"])
    }

    @Test("A whole set replaces the one before; what stays keeps its identity")
    func replace() throws {
        let set = try edit(
            .add(Self.content("a == 1", named: "x")),
            .add(Self.content("a == 2")),
            .add(Self.content("a == 3")),
            .replaceAll([
                Self.content("a == 3"), Self.content("a == 9", named: "x"),
                Self.content("a == 4"), Self.content("a == 4"),
            ])
        )
        #expect(set.map(\.query) == ["a == 3", "a == 9", "a == 4"])
        #expect(set.map(\.createdAt) == [3, 1, 4])
        #expect(throws: SubscriptionError.self) {
            try edit(
                .replaceAll([Self.content("a", named: "x"), Self.content("b", named: "x")])
            )
        }
    }

    @Test("Equal contents are equal sets, in any order and under any ids")
    func equality() throws {
        let one = try edit(.add(Self.content("a == 1")), .add(Self.content("b", named: "x")))
        let other = try edit(.add(Self.content("b", named: "x")), .add(Self.content("a == 1")))
        let set = SubscriptionSet(
            version: .zero,
            snapshotVersion: .zero,
            subscriptions: one
        )
        #expect(set.hasSameContent(as: other))
        #expect(!set.hasSameContent(as: Array(other.dropLast())))
    }

    @Test("Queries get their canonical text, and mistakes name the subscription and the column")
    func canonical() throws {
        let schema = RealmSchema([
            ClassSchema(
                name: "Task",
                kind: .topLevel(PrimaryKeySchema(name: "_id", type: .int, isNullable: false)),
                properties: [PropertySchema(name: "a", type: .int, isNullable: false)]
            )
        ])
        let canonical = try Self.content("a==1&&a<5", named: "x").canonical(in: schema)
        #expect(canonical.query == "a == 1 and a < 5")
        // The class may come from the server later.
        let unknown = Self.content("z==1", of: "Later")
        #expect(try unknown.canonical(in: schema) == unknown)
        for (query, detail) in [
            ("a = ", "column 5"), ("b == 1", "column 1"), ("a > 1 SORT(a ASC)", "SORT"),
        ] as [(Text, String)] {
            do throws(SubscriptionError) {
                _ = try Self.content(query, named: "x").canonical(in: schema)
                Issue.record("\(query) was accepted")
            } catch {
                #expect(error.kind == .invalidQuery)
                #expect(error.description.hasPrefix(#"subscription "x": "#))
                #expect(error.description.contains(detail), "\(error)")
            }
        }
    }
}

@Suite("The body of a set, and the subscriptions that a rejection is about")
struct SubscriptionSetTests {
    private func set(_ contents: SubscriptionContent...) throws -> SubscriptionSet {
        var random = SplitMix64(seed: 1)
        var edit = SubscriptionEdit(of: [], now: 0)
        for content in contents { try edit.apply(.put(content), using: &random) }
        return SubscriptionSet(
            version: .zero,
            snapshotVersion: .zero,
            subscriptions: edit.subscriptions
        )
    }

    @Test("Each text once, sorted, in parentheses; {} without any")
    func body() throws {
        #expect(try set().queryBody == "{}")
        let body = try set(
            SubscriptionContent(name: "x", className: "Task", query: "b > 1"),
            SubscriptionContent(className: "Task", query: "a == \"é\""),
            SubscriptionContent(className: "Task", query: "b > 1"),
            SubscriptionContent(className: "Note")
        ).queryBody
        #expect(
            body == #"{"Note":"(TRUEPREDICATE)","Task":"(a == \"é\") OR (b > 1)"}"#
        )
    }

    @Test("A rejection names the class and the column of the joined query")
    func blame() throws {
        let set = try set(
            SubscriptionContent(name: "first", className: "Task", query: "a == \"é\""),
            SubscriptionContent(name: "second", className: "Task", query: "b > 1"),
            SubscriptionContent(name: "other", className: "Note")
        )
        func names(_ text: String) -> [Text?] { set.subscriptions(blamedBy: text).map(\.name) }
        // (a == "é") OR (b > 1): the second begins in column 16.
        let text = #"Invalid query: invalid RQL for table "Task": column "#
        #expect(names(text + "16: key \"b\" is not a queryable field") == ["second"])
        #expect(names(text + "2: key \"a\" is not a queryable field") == ["first"])
        #expect(names(text + "999: x") == ["first", "second"])
        #expect(names(#"no queryable field in table "Task""#) == ["first", "second"])
        #expect(names("something else") == [])
    }
}
