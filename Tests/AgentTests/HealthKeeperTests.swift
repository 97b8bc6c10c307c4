import Control
import SyncClient
import Synchronization
import Testing

@testable import Agent

@Suite("Telling the service manager how the agent is", .timeLimit(.minutes(10)))
struct HealthKeeperTests {
    final class Told: Sendable {
        let alive = Mutex(0)
        let summaries = Mutex<[String]>([])
    }

    func realm(_ state: RealmState, _ cause: String? = nil) -> RealmStatus {
        var realm = RealmStatus(
            name: "r",
            path: "",
            app: "",
            user: "",
            partition: "",
            state: state
        )
        realm.cause = cause
        return realm
    }

    @Test("One line names the states and causes, the most frequent first")
    func summary() {
        #expect(HealthKeeper.summary(of: []) == "no realms")
        #expect(HealthKeeper.summary(of: [realm(.open)]) == "1 realm: 1 open")
        let realms = [realm(.paused, "metered"), realm(.open), realm(.open)]
        #expect(HealthKeeper.summary(of: realms) == "3 realms: 2 open, 1 paused (metered)")
    }

    @Test("Three signs of life fit into the watchdog's period")
    func period() {
        #expect(HealthKeeper.period(watchdog: .seconds(9)) == .seconds(3))
        #expect(HealthKeeper.period(watchdog: .seconds(60)) == .seconds(5))
        #expect(HealthKeeper.period(watchdog: nil) == .seconds(5))
    }

    @Test("While all realms respond it notifies the watchdog; it sends only changed statuses")
    func alive() async {
        let told = Told()
        let states: [RealmState] = [.connecting, .open, .open, .open]
        let keeper = HealthKeeper(
            period: .seconds(1),
            time: SyncTime(uptime: { .zero }, sleep: { _ in try Task.checkCancellation() }),
            examine: {
                let index = told.alive.withLock(\.self)
                guard index < states.count else {
                    withUnsafeCurrentTask { $0?.cancel() }
                    return []
                }
                return [realm(states[index])]
            },
            reportAlive: { told.alive.withLock { $0 += 1 } },
            reportSummary: { line in told.summaries.withLock { $0.append(line) } }
        )
        await Task { await keeper.run() }.value
        #expect(told.alive.withLock(\.self) == states.count)
        #expect(told.summaries.withLock(\.self) == ["1 realm: 1 connecting", "1 realm: 1 open"])
    }

    @Test("A realm that does not respond stops the watchdog notifications")
    func hanging() async {
        let told = Told()
        let asked = AsyncStream<Void>.makeStream()
        let keeper = HealthKeeper(
            period: .zero,
            time: .continuous,
            examine: {
                asked.continuation.yield()
                try? await Task.sleep(for: .seconds(600))
                return []
            },
            reportAlive: { told.alive.withLock { $0 += 1 } },
            reportSummary: { _ in }
        )
        let run = Task { await keeper.run() }
        for await _ in asked.stream { break }
        run.cancel()
        await run.value
        #expect(told.alive.withLock(\.self) == 0)
    }
}
