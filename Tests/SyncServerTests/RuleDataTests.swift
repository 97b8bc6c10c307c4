import Changesets
import JSON
import SQLiteServerStore
import Scopes
import ServerStore
import Surroundings
import SyncProtocol
import Testing

@testable import SyncServer

@Suite("Access rules about custom user data")
struct RuleDataTests {
    private static let user = UserID("61f0a0000000000000000001")

    /// Whether the user may open the partition.
    private func opens(
        _ partition: String,
        by rule: String,
        _ data: RuleDataReader?
    ) async throws -> Bool {
        let app = try #require(AppID("branches-app"))
        let store = try await SQLiteStore(.memory)
        try await store.write(.accounts(app)) { transaction in
            try transaction.insert(
                User(id: Self.user, identities: [], isDisabled: false),
                of: app,
                at: 0
            )
        }
        let engine = SyncEngine(
            store: store,
            clock: WallClock { 1_700_000_000_000 },
            random: RandomSource(SystemRandomNumberGenerator())
        )
        do {
            _ = try await engine.open(
                .string(.init(partition)),
                of: app,
                for: Self.user,
                needsFileIdent: true,
                rules: AccessRules(read: try AccessRule(rule)),
                ruleData: data
            )
            return true
        } catch is SessionFault {
            return false
        }
    }

    private static let data: RuleDataReader = { user, _ in
        user == RuleDataTests.user
            ? .object([
                "branches": .array([.string("north"), .string("south")]),
                "level": .object(["$numberLong": .string("3")]),
            ]) : nil
    }

    @Test(
        "A rule reads the user's own object, without its type tags",
        arguments: [
            ("partition IN user.custom_data.branches", "north", true),
            ("partition IN user.custom_data.branches", "west", false),
            ("user.custom_data.level == 3", "west", true),
            ("user.custom_data.nothing == null", "west", true),
            ("user.type == 'normal'", "west", true), ("user.type == 'server'", "west", false),
        ]
    )
    func reading(rule: String, partition: String, expected: Bool) async throws {
        #expect(try await opens(partition, by: rule, Self.data) == expected)
    }

    @Test("Without custom user data a rule that names it admits no user, also negated")
    func unknown() async throws {
        #expect(try await !opens("north", by: "user.custom_data.banned != true", nil))
        #expect(try await opens("north", by: "user.id != 'x'", nil))
    }
}
