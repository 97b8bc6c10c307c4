import PostgreSQLFixtures
import ServerFixtures
import Testing

@testable import ServerAccounts
@testable import ServerStore

/// Limits on guessing that count over processes (server on PostgreSQL, 6.5).
@Suite(
    "Limits on guessing over processes",
    .serialized,
    .timeLimit(.minutes(5)),
    .enabled(
        if: PostgreSQLInstallation.isRequiredOrPresent,
        "\(PostgreSQLInstallation.absence)"
    )
)
struct SharedLimitTests {
    @Test("P17 The 11th wrong password over two processes is refused by both")
    func wrongPasswords() async throws {
        let store = try await StoreKind.postgreSQL.makeStore()
        try await BackplaneKind.postgreSQL.withProcesses(2) { backplanes in
            var processes: [TestApps] = []
            for backplane in backplanes {
                processes.append(try await TestApps(store: store, backplane: backplane))
            }
            #expect(await processes[0].register("ann@example.net", "correct horse").status == 201)
            for count in 0..<10 {
                let reply = await processes[count % 2].logIn("ann@example.net", "wrong one")
                #expect(reply.status == 401)
            }
            for process in processes {
                #expect(await process.logIn("ann@example.net", "wrong one").status == 429)
                // Also the right one: an attacker must not learn that it was.
                #expect(await process.logIn("ann@example.net", "correct horse").status == 429)
            }
        }
    }
}
