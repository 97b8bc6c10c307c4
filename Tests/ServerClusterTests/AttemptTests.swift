import PostgreSQL
import PostgreSQLFixtures
import ServerCluster
import ServerFixtures
import ServerStore
import Testing

@Suite(
    "Attempts that processes count together",
    .serialized,
    .timeLimit(.minutes(5)),
    .enabled(
        if: PostgreSQLInstallation.isRequiredOrPresent,
        "\(PostgreSQLInstallation.absence)"
    )
)
struct AttemptTests {
    private func attempt(_ key: UInt8, refill: Int64 = 600_000) -> CountedAttempt {
        CountedAttempt(key: [1, key], burst: 10, refillInterval: refill)
    }

    @Test("P17 The attempts of both processes count: the 11th is refused by each")
    func shared() async throws {
        let cluster = try ClusterDatabase()
        let processes = try (0..<2).map { _ in try cluster.process() }
        try await ClusterDatabase.running(processes) {
            for count in 0..<10 {
                #expect(await processes[count % 2].take(attempt(1)) == nil)
            }
            for process in processes {
                let wait = try #require(await process.take(attempt(1)))
                #expect((1...600_000).contains(wait))
                // Another key has attempts of its own.
                #expect(await process.take(attempt(2)) == nil)
            }
            // One that succeeded does not count.
            await processes[0].giveBack(attempt(1))
            #expect(await processes[1].take(attempt(1)) == nil)
            #expect(await processes[1].take(attempt(1)) != nil)
        }
    }

    @Test("A bucket refills with time, and no clock keeps it empty for longer than that")
    func refill() async throws {
        let cluster = try ClusterDatabase()
        let process = try cluster.process()
        let direct = try Connection(cluster.target(), deadline: .after(.seconds(60)))
        try await ClusterDatabase.running([process]) {
            for _ in 0..<10 { #expect(await process.take(attempt(1)) == nil) }
            #expect(await process.take(attempt(1)) != nil)
            // Ten minutes later.
            try direct.execute("UPDATE attempt SET full_at = full_at - 600000")
            #expect(await process.take(attempt(1)) == nil)
            #expect(await process.take(attempt(1)) != nil)
            // A clock that was years ahead had written this.
            try direct.execute("UPDATE attempt SET full_at = full_at + 100000000000")
            let wait = try #require(await process.take(attempt(1)))
            #expect(wait <= 600_000)
        }
    }

    @Test("Without the database a process counts alone")
    func away() async throws {
        let cluster = try ClusterDatabase()
        let process = try cluster.process()
        for _ in 0..<20 { #expect(await process.take(attempt(1)) == nil) }
        await process.giveBack(attempt(1))
    }
}
