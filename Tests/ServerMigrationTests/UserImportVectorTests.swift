import BSON
import Changesets
import JSON
import Migration
import ServerFixtures
import ServerMigration
import ServerStore
import TestSupport
import Testing

@Suite(
    "Users of exports",
    .enabled(if: Vectors.areRequiredOrPresent, "the golden vectors are not here")
)
struct UserImportVectorTests {
    private func app() throws -> AppID { try #require(AppID("toolshed-qwzkp")) }

    private func load(_ store: any Store, _ names: [String]) async throws -> UserReport {
        try await UserImport(into: store, try app()) { 1_700_000_000_000 }
            .run(names.map { Vectors.place(of: "migration/users/\($0)") })
    }

    @Test("Users keep their ids, and the report is the expected one")
    func listing() async throws {
        let store = try await StoreKind.ofRun.makeStore()
        let report = try await load(store, ["page1.json", "page2.json", "pending.json"])
        let expected = try JSONTree(parsing: Vectors.bytes(of: "migration/expected/users.json"))
        let made = try JSONTree(parsing: report.json.json())
        for member in expected.members ?? [] {
            let value = made[member.name.description]
            guard let wanted = member.value.members else {
                #expect(value == member.value, "\(member.name)")
                continue
            }
            #expect(Set(value?.members ?? []) == Set(wanted), "\(member.name)")
        }
        print("user vectors: \(report.read) users")
        #expect(report.exitStatus == 1)
        let app = try app()
        let ann = try await store.read {
            try $0.user(UserID("61f0a0000000000000000001"), of: app)
        }
        #expect(ann?.identities.map(\.email) == ["ann@example.org"])
        let disabled = try await store.read {
            try $0.user(UserID("61f0a0000000000000000007"), of: app)
        }
        #expect(disabled?.isDisabled == true)
        // The same users again: nothing.
        let again = try await load(store, ["page1.json"])
        #expect(again.stored == 0)
        #expect(again.repeated == 7)
    }

    @Test("Lines and the simple form are read, too")
    func lines() async throws {
        let store = try await StoreKind.ofRun.makeStore()
        #expect(try await load(store, ["lines.json"]).stored == 7)
        let simple = try await load(store, ["simple.json", "api-keys.json"])
        #expect(simple.stored == 1)
        #expect(simple.accountsWithoutPassword == ["hal@example.org"])
        let app = try app()
        let account = try await store.read { snapshot in
            try UserName("hal@example.org").flatMap { try snapshot.passwordAccount($0, of: app) }
        }
        #expect(account?.hash == .unusable)
        #expect(account?.isConfirmed == true)
    }
}
