import Config
import FoundationEssentials
import Logging
import Platform
import Plugins
import RealmFixtures
import RealmSync
import Scheduling
import TestSupport
import Testing

@testable import Agent

@Suite("Handlers of a realm's events", .timeLimit(.minutes(10)))
struct RealmHandlersTests {
    let temporary: TemporaryDirectory

    init() throws {
        self.temporary = try TemporaryDirectory()
    }

    /// A broken handler and one that gives this answer, and writes down what it was asked.
    private func handlers(_ answer: String) -> (RealmHandlers, PluginRegistry) {
        struct NoUnits: UnitStarter {
            func startUnit(_ name: String) async throws(SystemBusFailure) {}
        }
        let command = ["/bin/sh", "-c", "cat > '\(temporary.file("request"))'; echo '\(answer)'"]
        let registry = PluginRegistry(
            [
                PluginConfiguration(name: "broken", kind: .exec(.init(command: ["/none"]))),
                PluginConfiguration(name: "ops", kind: .exec(.init(command: command))),
            ],
            environment: HandlerEnvironment(
                logger: Logger(label: "test") { _ in SwiftLogNoOpLogHandler() },
                now: WallTime.now,
                readSecret: { _ in "" },
                files: HandlerRealmFiles(),
                units: NoUnits()
            )
        )
        let subject = HandlerSubject(realm: "stock", app: "shop", user: "till", path: "/none")
        let runner = HandlerRunner(
            subject: subject,
            registry: registry,
            onError: ["broken", "ops"]
        )
        return (RealmHandlers(runner, requiresBefore: false, events: AgentEvents()), registry)
    }

    /// Runs a realm that cannot log in together with its handlers.
    private func withRealm(
        _ handlers: RealmHandlers,
        _ body: (SyncedRealm) async throws -> Void
    ) async throws {
        let realm = try OfflineRealm(in: temporary).realm(status: 401, report: handlers.note)
        let run = Task {
            await withTaskGroup(of: Void.self) { group in
                group.addTask { await handlers.run(realm) }
                await realm.run()
                group.cancelAll()
            }
        }
        try await body(realm)
        run.cancel()
        await run.value
    }

    @Test("A handler is asked about errors of opening a realm, and its decision is carried out")
    func handled() async throws {
        let (handlers, _) = handlers(#"{"decision":"stop"}"#)
        try await withRealm(handlers) { realm in
            try await until { await realm.status().activity.cause == .byPlugin }
            let activity = await realm.status().activity
            #expect(activity.phase == .suspended)
            #expect(activity.detail?.contains("ops") == true)
            let data = FileManager.default.contents(atPath: temporary.file("request")) ?? Data()
            let request = String(decoding: data, as: UTF8.self)
            #expect(request.contains(#""code":"auth.refused""#))
            #expect(request.contains(#""fatal":true"#))
        }
    }

    @Test("A decision about another realm is recorded, and changes nothing")
    func decisionAboutAnother() async throws {
        let (handlers, registry) = handlers(#"{"decision":"stop","realm":"orders"}"#)
        try await withRealm(handlers) { realm in
            try await until { await registry.report().last?.failures != 0 }
            #expect(await registry.report().last?.lastFailure?.code == "plugin.bad_answer")
            let activity = await realm.status().activity
            #expect(activity.phase == .loginRequired)
            #expect(activity.cause == .logInRefused)
        }
    }
}
