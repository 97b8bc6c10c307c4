import Config
import FoundationEssentials
import Outbound
import Platform
import Scheduling
import Settings
import Synchronization
import TestSupport
import Testing

@testable import Plugins

@Suite("Handlers of an event", .timeLimit(.minutes(10)))
struct RegistryTests {
    private func plugin(_ name: String, _ kind: PluginConfiguration.Kind) -> PluginConfiguration {
        PluginConfiguration(name: name, kind: kind)
    }

    private func answering(_ answer: String) -> PluginConfiguration.Kind {
        .exec(.init(command: ["/bin/sh", "-c", "echo '\(answer)'"]))
    }

    @Test("The first decision other than continue counts, and later handlers still see the event")
    func order() async {
        let units = StartedUnits()
        let registry = PluginRegistry(
            [
                plugin("quiet", .log(level: .debug)),
                plugin("first", answering(#"{"decision":"retry","note":"why not"}"#)),
                plugin("second", answering(#"{"decision":"stop"}"#)),
                plugin("unit", .notifySystemd(unit: "realm-agent-tell.service")),
            ],
            environment: HandlerFixture.environment(units: units)
        )
        let verdict = await registry.consult(
            ["quiet", "first", "second", "unit", "unknown"],
            HandlerFixture.error
        )
        #expect(
            verdict
                == HandlerVerdict(decision: .retry(after: nil), plugin: "first", note: "why not")
        )
        #expect(units.names.withLock { $0 } == ["realm-agent-tell.service"])
        #expect(await registry.report().map(\.calls) == [1, 1, 1, 1])
    }

    @Test("Another configuration replaces what differs, and leaves the others their records")
    func follow() async {
        let kept = plugin("kept", answering(#"{"decision":"continue"}"#))
        let registry = PluginRegistry(
            [plugin("gone", .log(level: .debug)), kept, plugin("changed", .log(level: .debug))],
            environment: HandlerFixture.environment()
        )
        let names = ["gone", "kept", "changed", "new"]
        _ = await registry.consult(names, HandlerFixture.error)
        #expect(await registry.report().map(\.calls) == [1, 1, 1])
        await registry.follow([
            plugin("new", .suspend(duration: nil)),
            plugin("changed", answering(#"{"decision":"retry"}"#)),
            kept,
        ])
        #expect(await registry.report().map(\.name) == ["new", "changed", "kept"])
        #expect(await registry.report().map(\.calls) == [0, 0, 1])
        let verdict = await registry.consult(names, HandlerFixture.error)
        #expect(verdict.plugin == "changed")
        #expect(await registry.report().map(\.calls) == [1, 1, 2])
    }

    @Test("Handlers that fail, answer falsely or are missing change nothing, and are recorded")
    func failures() async {
        let log = RecordedLog()
        let heard = Mutex<[String]>([])
        let clock = TestClock()
        let registry = PluginRegistry(
            [
                plugin("liar", answering("I would stop")),
                plugin("crash", .exec(.init(command: ["/bin/false"]))),
                plugin("absent", .exec(.init(command: ["/nowhere/at/all"]))),
                plugin("unit", .notifySystemd(unit: "missing.service")),
                plugin("copy", .backupRealm(directory: "/nowhere", keep: 1)),
                plugin("good", .suspend(duration: .seconds(60))),
            ],
            environment: HandlerFixture.environment(clock: clock, log: log),
            onFailure: { failure in heard.withLock { $0.append(failure.code) } }
        )
        let names = ["liar", "crash", "absent", "unit", "copy", "good"]
        let verdict = await registry.consult(names, HandlerFixture.error)
        let end = HandlerFixture.start.millisecondsSince1970 + 60_000
        #expect(verdict.plugin == "good")
        #expect(verdict.decision == .suspend(until: WallTime(millisecondsSince1970: end)))
        #expect(
            heard.withLock { $0 } == [
                "plugin.bad_answer", "plugin.exit_status", "plugin.cannot_start", "plugin.unit",
                "plugin.storage",
            ]
        )
        let records = await registry.report()
        #expect(records.map(\.name) == names)
        #expect(records.map(\.failures) == [1, 1, 1, 1, 1, 0])
        #expect(records[4].lastFailure?.message == "the disk is full")
        #expect(records[4].lastFailure?.at == clock.now)
        #expect(log.lines.filter { $0.hasPrefix("warning handler failed") }.count == 5)
    }

    @Test("log writes at its level, with what the event says")
    func log() async {
        let log = RecordedLog()
        let registry = PluginRegistry(
            [plugin("say", .log(level: .error)), plugin("hush", .log(level: .off))],
            environment: HandlerFixture.environment(log: log)
        )
        _ = await registry.consult(["say", "hush"], HandlerFixture.error)
        let lines = log.lines.filter { $0.hasPrefix("error ") }
        #expect(lines.count == 1)
        #expect(lines.first?.contains("code=auth.token_expired") == true)
        #expect(lines.first?.contains("sdk_code=5") == true)
    }

    @Test("relogin is limited within its window, separately for each user")
    func relogin() async {
        let clock = TestClock()
        let registry = PluginRegistry(
            [plugin("again", .relogin(.init(count: 2, window: .seconds(3600))))],
            environment: HandlerFixture.environment(clock: clock)
        )
        func decision(_ user: String = "till-7") async -> HandlerDecision {
            let subject = HandlerSubject(realm: "r", app: "a", user: user, path: "/p")
            let request = HandlerRequest(HandlerFixture.error.event, of: subject)
            return await registry.consult(["again"], request).decision
        }
        #expect(await decision() == .relogin)
        clock.advance(by: .seconds(1800))
        #expect(await decision() == .relogin)
        #expect(await decision() == .continue)
        #expect(await decision("till-8") == .relogin)
        clock.advance(by: .seconds(1800))
        #expect(await decision() == .relogin)
        #expect(await decision() == .continue)
        #expect(await registry.report().first?.lastFailure?.code == "plugin.allowance_used")
    }

    @Test("backup-realm keeps the newest copies of its realm, and touches nothing else")
    func backup() async throws {
        struct Copies: RealmFiles {
            func copy(
                realmAt path: String,
                to destination: String
            ) async throws(RealmFilesFailure) {
                try? path.write(toFile: destination, atomically: false, encoding: .utf8)
            }

            func exportUnsynced(
                realmAt path: String,
                to destination: String
            ) async throws(RealmFilesFailure) -> Int { 0 }
        }
        let temporary = try TemporaryDirectory()
        let others = [
            "stock-a-20200101T000000000Z.sqlite", "stock-notes.sqlite", "stock.sqlite",
            "orders-20200101T000000000Z.sqlite", "stock-20200101T000000000Z.txt",
        ]
        for name in others {
            try "x".write(toFile: temporary.file(name), atomically: false, encoding: .utf8)
        }
        let clock = TestClock()
        let registry = PluginRegistry(
            [plugin("keep", .backupRealm(directory: temporary.path, keep: 2))],
            environment: HandlerFixture.environment(clock: clock, files: Copies())
        )
        for _ in 0..<4 {
            _ = await registry.consult(["keep"], HandlerFixture.error)
            clock.advance(by: .milliseconds(1))
        }
        let names = try FileManager.default.contentsOfDirectory(atPath: temporary.path)
        #expect(
            Set(names)
                == Set(others).union([
                    "stock-20261120T223000002Z.sqlite", "stock-20261120T223000003Z.sqlite",
                ])
        )
        #expect(await registry.report().first?.failures == 0)
    }

    @Test("webhook sends its headers, secrets among them, and reads the answer")
    func webhook() async {
        final class Sender: WebhookSender {
            let calls = Mutex<[WebhookCall]>([])

            func post(_ call: WebhookCall) async throws(HandlerFailure) -> [UInt8] {
                calls.withLock { $0.append(call) }
                return Array(#"{"decision":"discard"}"#.utf8)
            }
        }
        let sender = Sender()
        let url = "https://ops.example/hook"
        let registry = PluginRegistry(
            [
                plugin(
                    "tell",
                    .webhook(
                        .init(
                            url: url,
                            headers: [
                                "X-Site": .text("store 7"),
                                "Authorization": .secret(.environment(variable: "TOKEN")),
                            ]
                        )
                    )
                ),
                plugin(
                    "broken",
                    .webhook(.init(url: url, headers: ["A": .secret(.file(path: "/none"))]))
                ),
            ],
            environment: HandlerFixture.environment(webhooks: sender)
        )
        let verdict = await registry.consult(["broken", "tell"], HandlerFixture.error)
        #expect(verdict.decision == .discard)
        #expect(
            sender.calls.withLock { $0 } == [
                WebhookCall(
                    url: url,
                    headers: [
                        "Content-Type": "application/json", "X-Site": "store 7",
                        "Authorization": "s3cret",
                    ],
                    body: HandlerFixture.error.json(),
                    timeout: .seconds(10)
                )
            ]
        )
        #expect(await registry.report().last?.lastFailure?.code == "plugin.secret_unreadable")
    }

    @Test("A webhook with TLS on a system without authorities names the package that has them")
    func webhookWithoutAuthorities() async {
        let client = WebhookClient(authorities: SystemAuthorities(files: [], directories: []))
        let call = WebhookCall(
            url: "https://127.0.0.1:1/hook",
            headers: [:],
            body: [],
            timeout: .seconds(60)
        )
        let failure = await #expect(throws: HandlerFailure.self) { try await client.post(call) }
        #expect(failure?.description.contains("install the package ca-certificates") == true)
        #expect(failure?.code == "plugin.unreachable")
    }
}
