import AsyncHTTPClient
import Glibc
import NIOCore
import NIOHTTP1
import Testing

@testable import Control

@Suite("The control API over a real Unix socket", .timeLimit(.minutes(10)))
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
            realm.secondsToNextAttempt = 12.5
            realm.roundTripSeconds = 0.25
            realm.offlineLimitUsed = 0.5
            return StatusReport(version: "0.1.0", pid: 7, realms: [realm])
        }

        func sync(realm: String, timeout: Duration?) async throws(ControlError) -> SyncReport {
            // One whose server never answers.
            if realm == "stuck" { try? await Task.sleep(for: .seconds(600)) }
            guard realm == "stock" else { throw .unknownRealm(realm) }
            return SyncReport(
                realm: realm,
                outcome: timeout == .seconds(2.5) ? .timedOut : .done,
                uploadedBytes: 3
            )
        }

        func reset(
            realm: String,
            _ request: ResetRequest
        ) async throws(ControlError) -> ResetResponse {
            guard realm == "stock" else { throw .unknownRealm(realm) }
            return ResetResponse(
                realm: realm,
                outcome: request.dryRun == true ? .rehearsed : .done,
                didRecover: request.mode != "discard-unsynced-changes"
            )
        }

        func restart(realm: String) async throws(ControlError) {
            guard realm == "stock" else { throw .unknownRealm(realm) }
        }

        func subscriptions(of realm: String) async throws(ControlError) -> SubscriptionsReport {
            guard realm == "stock" else { throw .unknownRealm(realm) }
            let set = SubscriptionSetReport(
                version: 1,
                state: "complete",
                error: nil,
                subscriptions: []
            )
            return SubscriptionsReport(
                realm: realm,
                active: set,
                pending: nil,
                waitingFor: nil,
                estimate: nil
            )
        }

        func changeSubscriptions(
            of realm: String,
            _ request: SubscriptionsRequest
        ) async throws(ControlError) -> SubscriptionsChange {
            guard realm == "stock" else { throw .unknownRealm(realm) }
            return SubscriptionsChange(
                realm: realm,
                version: 2,
                outcome: request.wait == true ? .complete : .committed,
                counts: request.operations.map { _ in 1 }
            )
        }

        func verify(
            _ realm: String,
            _ request: VerifyRequest
        ) async throws(ControlError) -> AsyncStream<VerificationLine> {
            guard realm == "stock" else { throw .unknownRealm(realm) }
            return AsyncStream { continuation in
                continuation.yield(VerificationLine(step: .syncing))
                continuation.yield(
                    VerificationLine(error: .unknownRealm("x"), outcome: .timedOut)
                )
                continuation.finish()
            }
        }

        static let plugin = PluginReport(
            name: "tell-ops",
            use: "exec",
            realms: ["stock"],
            calls: 2,
            failures: 1,
            lastFailure: PluginReport.Failure(
                at: "2026-11-20T22:30:00.000Z",
                realm: "stock",
                code: "plugin.timed_out",
                message: "no answer within 10 seconds"
            )
        )

        func plugins() async -> [PluginReport] { [Self.plugin] }

        func reload() async throws(ControlError) -> ReloadReport {
            throw .refusedConfiguration(["a.yaml:1:1: error: x: is wrong; mend it"])
        }

        static let records = [
            EventPayload.state(StatePayload(state: .offline, cause: "backoff", detail: "x \"y\"")),
            .error(ErrorPayload(code: "206", message: "no", fatal: true, logURL: "https://x/log")),
            .rejected(
                RejectedPayload(by: .local, className: "Item", key: "1", property: "a", reason: "r")
            ),
            .reset(ResetPayload(stage: .required, mode: "manual", detail: nil)),
            .changed(ChangePayload(changesets: 2, seconds: 0.5, localVersion: 7)),
            .plugin(PluginPayload(plugin: "tell", handled: "error", failure: "timed out")),
            .error(ErrorPayload(code: "217", message: "no", fatal: true, sdkCode: 7)),
            .user(UserPayload(user: "till-7", change: .sessionEnded)),
            .reloaded(ReloadPayload(applied: ["a"], needRestart: [])),
            .gap,
        ].enumerated().map { index, fact in
            EventRecord(
                sequence: UInt64(index + 1),
                at: "2026-01-01T00:00:00.000Z",
                event: AgentEvent(realm: index.isMultiple(of: 2) ? "stock" : nil, fact)
            )
        }

        func events(after position: UInt64?, follow: Bool) -> AsyncStream<EventRecord> {
            AsyncStream { stream in
                for record in Self.records where record.sequence > position ?? 0 {
                    stream.yield(record)
                }
                if !follow { stream.finish() }
            }
        }

        func metrics() async -> AgentMetrics {
            var totals = EventTotals()
            for record in Self.records { totals.count(record.event) }
            let pause = StatePayload(state: .paused, cause: "metered")
            totals.count(AgentEvent(realm: "stock", .state(pause)))
            totals.countUploads(realm: "stock", changesets: 5)
            totals.countUploads(realm: "stock", changesets: 2)
            totals.countAcknowledgement(realm: "stock", seconds: 0.015625)
            totals.countAcknowledgement(realm: "stock", seconds: 30)
            return AgentMetrics(await status(), totals)
        }

        func logLevels() async -> LogReport {
            LogReport(level: "info", categories: ["Sync": "debug"])
        }

        func setLogLevel(_ change: LogLevelChange) async throws(ControlError) -> LogReport {
            guard change.level != "loud" else { throw .malformed("no such level") }
            return LogReport(level: change.level, categories: [:])
        }
    }

    /// Serves the backend while the body runs.
    func withServer(
        at path: String = "/tmp/control-\(UInt64.random(in: 0...UInt64.max)).sock",
        access: ControlAccess = ControlAccess(agentUser: getuid(), group: nil),
        _ body: (ControlClient) async throws -> Void
    ) async throws {
        defer { unlink(path) }
        let (listening, signal) = AsyncStream<Void>.makeStream()
        let server = ControlServer(
            socketPath: path,
            backend: Backend(),
            access: access,
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

    @Test("Without an agent the client's error names the remedy")
    func noAgent() async {
        let path = "/tmp/no-listener-here.sock"
        await #expect(throws: ControlError.noAgent(socket: path)) {
            try await ControlClient(socketPath: path).status()
        }
    }

    @Test("The JSON has the form that scripts expect: snake case, words for states, no null")
    func form() async throws {
        let json = try await Backend().status().controlJSON()
        #expect(json.contains(#""state":"offline""#))
        #expect(json.contains(#""pending_upload_bytes":12"#))
        #expect(!json.contains("null"))
    }

    @Test("The socket is for its owner and its group, and replaces one that was left behind")
    func socketFile() async throws {
        let path = "/tmp/control-\(UInt64.random(in: 0...UInt64.max)).sock"
        for _ in 0..<2 {
            try await withServer(at: path) { client in
                var status = stat()
                #expect(stat(path, &status) == 0)
                #expect(status.st_mode & 0o777 == 0o660)
                let report = try await client.status()
                #expect(report.pid == 7)
            }
            // As a killed agent leaves it.
            let descriptor = socket(AF_UNIX, Int32(SOCK_STREAM.rawValue), 0)
            var address = sockaddr_un()
            address.sun_family = sa_family_t(AF_UNIX)
            withUnsafeMutableBytes(of: &address.sun_path) { $0.copyBytes(from: path.utf8) }
            let size = socklen_t(MemoryLayout<sockaddr_un>.size)
            let isBound = withUnsafePointer(to: &address) { pointer in
                pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                    bind(descriptor, $0, size) == 0
                }
            }
            #expect(isBound)
            close(descriptor)
            await #expect(throws: ControlError.noAgent(socket: path)) {
                try await ControlClient(socketPath: path).status()
            }
        }
        unlink(path)
    }

    @Test("A file in the socket's place is not removed, and serving fails")
    func fileInTheWay() async throws {
        let path = "/tmp/control-\(UInt64.random(in: 0...UInt64.max)).sock"
        close(open(path, O_WRONLY | O_CREAT, 0o600))
        defer { unlink(path) }
        let failure = await #expect(throws: ControlServer.Unservable.self) {
            try await ControlServer(
                socketPath: path,
                backend: Backend(),
                access: ControlAccess(agentUser: getuid(), group: nil)
            ).run()
        }
        #expect(failure?.description == "the file is not a socket")
        #expect(access(path, F_OK) == 0)
    }

    @Test(
        "An invalid request is answered with an error code, and the agent keeps running",
        arguments: [
            ("POST", "v1/realms/stock/sync", "{", 400, "request.malformed"),
            ("POST", "v1/realms/stock/sync", "[]", 400, "request.malformed"),
            (
                "POST", "v1/realms/stock/sync", #"{"timeout_in_seconds":1e300}"#, 400,
                "request.malformed"
            ),
            (
                "POST", "v1/realms/stock/sync", #"{"timeout_in_seconds":-1}"#, 400,
                "request.malformed"
            ),
            (
                "POST", "v1/realms/stock/sync", String(repeating: " ", count: 70_000), 400,
                "request.malformed"
            ),
            ("POST", "v1/realms/none/sync", "{}", 404, "realm.unknown"),
            ("PUT", "v1/log", #"{"level":"loud"}"#, 400, "request.malformed"),
            ("PUT", "v1/log", "", 400, "request.malformed"),
            ("GET", "v1/events?after=x", "", 400, "request.malformed"),
            ("GET", "v1/events?follow=maybe", "", 400, "request.malformed"),
            ("GET", "v1/events?realm=none", "", 404, "realm.unknown"),
            ("GET", "v1/realms/none", "", 404, "realm.unknown"),
            ("GET", "v1/nothing", "", 404, "request.unknown"),
            ("DELETE", "v1/status", "", 404, "request.unknown"),
        ]
    )
    func refusals(
        method: String,
        path: String,
        body: String,
        status: Int,
        code: String
    ) async throws {
        try await withServer { client in
            let encoded = client.socketPath.replacing("/", with: "%2F")
            var request = HTTPClientRequest(url: "http+unix://\(encoded)/\(path)")
            request.method = .init(rawValue: method)
            if !body.isEmpty { request.body = .bytes(ByteBuffer(string: body)) }
            let reply = try await HTTPClient.shared.execute(request, timeout: .seconds(180))
            let bytes = Array(buffer: try await reply.body.collect(upTo: 1 << 16))
            #expect(Int(reply.status.code) == status)
            #expect(try JSONBody.decode(ControlError.Body.self, from: bytes).error.code == code)
            #expect(try await client.status().pid == 7)
        }
    }

    @Test("An agent that does not answer in time is not an agent that does not run")
    func silence() async throws {
        try await withServer { client in
            await #expect(
                throws: ControlError.noAnswer(
                    socket: client.socketPath,
                    reason: "timeout"
                )
            ) {
                try await client.call(
                    .POST,
                    "v1/realms/stuck/sync",
                    body: Array("{}".utf8),
                    timeout: .milliseconds(200)
                ) as SyncReport
            }
        }
    }
}
