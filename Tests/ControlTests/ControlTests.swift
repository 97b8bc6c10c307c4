import Control
import Testing

@Suite("The control API over a real Unix socket")
struct ControlTests {
    struct Backend: ControlBackend {
        func status() async -> StatusReport {
            var realm = RealmStatus(
                name: "stock",
                path: "/data/stock.sqlite",
                app: "shop",
                user: "till-7",
                partition: "\"store-42\"",
                state: .offline
            )
            realm.cause = "backoff"
            realm.pendingUploadBytes = 12
            return StatusReport(version: "0.1.0", pid: 7, realms: [realm])
        }

        func sync(realm: String, timeout: Duration?) async throws(ControlError) -> SyncReport {
            guard realm == "stock" else { throw .unknownRealm(realm) }
            return SyncReport(
                realm: realm,
                outcome: timeout == .seconds(2.5) ? .timedOut : .done,
                uploadedBytes: 3
            )
        }
    }

    /// Serves the backend while the body runs.
    func withServer(_ body: (ControlClient) async throws -> Void) async throws {
        let path = "/tmp/control-\(UInt64.random(in: 0...UInt64.max)).sock"
        let (listening, signal) = AsyncStream<Void>.makeStream()
        let server = ControlServer(
            socketPath: path,
            backend: Backend(),
            onListening: { signal.yield() }
        )
        try await withThrowingTaskGroup { group in
            group.addTask { try await server.run() }
            for await _ in listening { break }
            try await body(ControlClient(socketPath: path))
            group.cancelAll()
        }
    }

    @Test("Status, sync and errors cross the socket as they are")
    func roundTrip() async throws {
        try await withServer { client in
            #expect(try await client.status() == Backend().status())
            let report = try await client.sync(realm: "stock", timeout: nil)
            #expect(report == SyncReport(realm: "stock", outcome: .done, uploadedBytes: 3))
            let late = try await client.sync(realm: "stock", timeout: .seconds(2.5))
            #expect(late.outcome == .timedOut)
            await #expect(throws: ControlError.unknownRealm("none")) {
                try await client.sync(realm: "none", timeout: nil)
            }
        }
    }

    @Test("Without an agent the client says so, and what to do")
    func noAgent() async {
        let path = "/tmp/nobody-listens-here.sock"
        await #expect(throws: ControlError.noAgent(socket: path)) {
            try await ControlClient(socketPath: path).status()
        }
    }

    @Test("The JSON is what scripts expect: snake case, words for states, nothing null")
    func form() async throws {
        let json = try await Backend().status().controlJSON()
        #expect(json.contains(#""state":"offline""#))
        #expect(json.contains(#""pending_upload_bytes":12"#))
        #expect(!json.contains("null"))
    }
}
