import Changesets
import Scopes
import ServerFixtures
import Testing
import Versions

@testable import ServerStore

@Suite("Store: transactions")
struct StoreTransactionTests {
    private struct Refusal: Error, Equatable {}
    private let app = AppID.named("shop-abcde")

    @Test("A body that throws changes nothing", arguments: StoreKind.allCases)
    func rollback(kind: StoreKind) async throws {
        try await kind.withStore { store in
            await #expect(throws: Refusal()) {
                try await store.write { [app] transaction throws in
                    _ = try transaction.makeFile(of: app, .string("a"))
                    throw Refusal()
                }
            }
            let file = try await store.read { [app] in try $0.file(of: app, .string("a")) }
            #expect(file == nil)
        }
    }

    @Test(
        "Writes that share a commit succeed and fail each on its own",
        arguments: StoreKind.allCases
    )
    func groupCommit(kind: StoreKind) async throws {
        try await kind.withStore { store in
            let outcomes = await withTaskGroup(of: (Int64, Bool).self) { [app] group in
                for number in Int64(0)..<50 {
                    group.addTask {
                        do {
                            try await store.write { transaction throws in
                                _ = try transaction.makeFile(of: app, .int(number))
                                if number % 3 == 0 { throw Refusal() }
                            }
                            return (number, true)
                        } catch {
                            return (number, false)
                        }
                    }
                }
                return await group.reduce(into: [:]) { $0[$1.0] = $1.1 }
            }
            for number in Int64(0)..<50 {
                let file = try await store.read { [app] in try $0.file(of: app, .int(number)) }
                let isStored = file != nil
                #expect(isStored == (number % 3 != 0))
                #expect(outcomes[number] == isStored)
            }
        }
    }

    @Test("A reader sees the commits before its start", arguments: StoreKind.allCases)
    func readYourWrites(kind: StoreKind) async throws {
        try await kind.withStore { store in
            for number in Int64(1)...20 {
                _ = try await store.write { [app] in try $0.makeFile(of: app, .int(number)) }
                let file = try await store.read { [app] in try $0.file(of: app, .int(number)) }
                #expect(file != nil)
            }
        }
    }
}
