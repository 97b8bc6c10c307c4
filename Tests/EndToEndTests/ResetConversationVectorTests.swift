import FoundationEssentials
import ScriptedPeers
import TestSupport
import Testing

/// The recorded client reset (`vectors/wire/partition_client_reset`), with a real agent in the place of
/// the recorded client: log-in, sockets, the realm's file and a program that writes into it included.
@Suite(
    "The recorded reset, played to a real agent",
    .enabled(if: Vectors.areRequiredOrPresent, "the folder of vectors is not there"),
    .timeLimit(.minutes(30))
)
struct ResetConversationVectorTests {
    private static let schema = """
        classes:
          Task:
            primary_key: _id
            properties:
              _id: object_id
              name: string
              owner: string?
              done: bool
              priority: int
        """

    /// Writes an object as the recorded program did, and waits until it is captured: from then on it is
    /// part of the next upload.
    @Sendable private static func write(_ key: String, _ file: String) async throws {
        try await Programs.sqlite3(
            file,
            """
            INSERT INTO Task(_id, name, owner, done, priority)
            VALUES ('\(key)', 'task 0', '655e0000000000000000aaaa', 0, 0);
            """
        )
        let isCaptured = try await eventually {
            try await Programs.sqlite3(file, "SELECT count(*) FROM _realm_capture;") == "0\n"
        }
        #expect(isCaptured)
    }

    @Test("Our agent sends what the reference sent, and has the recovered object in the end")
    func conversation() async throws {
        let world = try ResetWorld()
        defer { world.remove() }
        let deployment = world.deployment
        try deployment.write("schema.yaml", Self.schema)
        try deployment.configure("north", partition: "p")
        let file = deployment.file("north")
        let first = "6b009041a9f282420bd23ca5"
        let second = "6b009041947ee9326544c408"
        let server = RecordedServer(
            try WireScenario.named("partition_client_reset"),
            events: [
                // Before anything comes down, and before the refusal.
                5: { try await Self.write(first, file) },
                // The recorded connection ends when its last DOWNLOAD has been taken in.
                10: {
                    let sql = "SELECT upload_client_version > 0 FROM _realm_state;"
                    let isIntegrated = try await eventually {
                        try await Programs.sqlite3(file, sql) == "1\n"
                    }
                    #expect(isIntegrated)
                },
                15: { try await Self.write(second, file) },
            ]
        )
        try await deployment.withServer { _ in
            try await LoopbackServer.with(
                messageLimit: 17 << 20,
                subProtocol: "com.mongodb.realm-sync#14",
                serve: { try await server.play($0) },
                { peer in
                    try world.lead("north", to: peer.port)
                    try await deployment.withAgent("north") { _ in
                        let isOver = await eventually { await server.isOver }
                        #expect(isOver, "\(deployment.log("north"))")
                        let faults = await server.faults.joined()
                        #expect(faults.isEmpty, "\(faults)\(deployment.log("north"))")
                        let sync = try await deployment.sync("north")
                        #expect(sync.status == 0, "\(sync.errors)")
                        // The refused state had the first object; the server's, only what was unsynced.
                        let rows = try await Programs.sqlite3(file, "SELECT _id FROM Task;")
                        #expect(rows == "\(second)\n")
                        let finished = try await world.reset("north", "finished")
                        #expect(finished?.did_recover == true)
                    }
                }
            )
        }
        let count = await server.matchCount
        print("recorded reset, whole engine: \(count) messages as recorded")
        #expect(count == 12)
    }
}
