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

    func realm(_ state: RealmState, _ cause: String? = nil) -> RealmHealth {
        RealmHealth(name: "r", state: state, cause: cause)
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

    @Test("After a sleep of the machine it says for how long, once")
    func sleep() async {
        let rounds = Mutex(0)
        let told = Mutex<[Duration]>([])
        let keeper = HealthKeeper(
            period: .seconds(1),
            time: SyncTime(uptime: { .zero }, sleep: { _ in try Task.checkCancellation() }),
            examine: {
                if rounds.withLock({ $0 }) > 8 { withUnsafeCurrentTask { $0?.cancel() } }
                return []
            },
            slept: {
                rounds.withLock { count in
                    count += 1
                    // A second of drift, then an hour of sleep.
                    return count < 3 ? .zero : .seconds(count < 6 ? 1 : 3_601)
                }
            },
            reportResumed: { duration in told.withLock { $0.append(duration) } },
            reportAlive: {},
            reportSummary: { _ in }
        )
        await Task { await keeper.run() }.value
        #expect(told.withLock(\.self) == [.seconds(3_600)])
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

    @Test("Connected realms whose changes make no progress are stalled, until some is acknowledged")
    func stalled() {
        func realm(
            _ name: String,
            _ state: RealmState,
            local: UInt64,
            acknowledged: UInt64
        ) -> RealmHealth {
            RealmHealth(
                name: name,
                state: state,
                uploads: .init(
                    localVersion: local,
                    progress: .init(acknowledgedVersion: acknowledged, uploadedBytes: 0)
                )
            )
        }
        var watch = StallWatch(limit: .seconds(60))
        func stalled(at seconds: Int, _ realms: RealmHealth...) -> [String] {
            watch.stalled(realms, at: .seconds(seconds))
        }
        let idle = realm("idle", .open, local: 3, acknowledged: 3)
        let offline = realm("offline", .offline, local: 9, acknowledged: 3)
        let stuck = realm("stuck", .open, local: 9, acknowledged: 3)
        #expect(stalled(at: 0, idle, offline, stuck) == [])
        #expect(stalled(at: 59, idle, offline, stuck) == [])
        #expect(stalled(at: 60, idle, offline, stuck) == ["stuck"])
        // Only an acknowledgement counts as progress.
        #expect(stalled(at: 70, realm("stuck", .open, local: 20, acknowledged: 3)) == ["stuck"])
        #expect(stalled(at: 80, realm("stuck", .open, local: 20, acknowledged: 4)) == [])
        #expect(stalled(at: 139, realm("stuck", .open, local: 20, acknowledged: 4)) == [])
        #expect(stalled(at: 140, realm("stuck", .open, local: 20, acknowledged: 4)) == ["stuck"])
        // The time counts from the connection.
        #expect(stalled(at: 150, realm("stuck", .offline, local: 20, acknowledged: 4)) == [])
        #expect(stalled(at: 209, realm("stuck", .open, local: 20, acknowledged: 4)) == [])
        #expect(stalled(at: 260, realm("stuck", .open, local: 20, acknowledged: 4)) == [])
        #expect(stalled(at: 269, realm("stuck", .open, local: 20, acknowledged: 4)) == ["stuck"])
    }
}
