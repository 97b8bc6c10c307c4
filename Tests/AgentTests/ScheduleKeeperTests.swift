import Coordination
import Logging
import Platform
import RealmFixtures
import RealmSync
import Scheduling
import SyncClient
import TestSupport
import Testing

@testable import Agent

@Suite("One realm's schedule, on a clock that a test moves", .timeLimit(.minutes(10)))
struct ScheduleKeeperTests {
    /// Friday 2026-11-20 21:59:00 UTC.
    private static let evening = Instant(secondsSince1970: 1_795_211_940)
    let time = SteppedClock()
    let temporary: TemporaryDirectory

    init() throws {
        self.temporary = try TemporaryDirectory()
    }

    private var memory: RefreshMemory {
        get throws {
            RefreshMemory(database: try OfflineRealm(in: temporary).database(), realm: "stock")
        }
    }

    private func keeper(
        of realm: SyncedRealm,
        _ policy: SchedulePolicy,
        link: NetworkQualityMonitor? = nil,
        start: Instant = evening
    ) async throws -> ScheduleKeeper {
        let time = time
        return ScheduleKeeper(
            realm,
            policy,
            memory: try memory,
            network: NetworkPolicy(),
            time: time.syncTime,
            now: { start + time.uptime },
            conditions: { Conditions(interface: "eth0") },
            link: link ?? NetworkQualityMonitor(time: time.syncTime),
            seed: 1,
            logger: Logger(label: "test") { _ in SwiftLogNoOpLogHandler() }
        )
    }

    /// Lets minutes pass until the permission is as expected, and says how many it took.
    private func minutes(
        until permission: SyncPermission,
        _ realm: SyncedRealm,
        atMost limit: Int
    ) async throws -> Int {
        for minute in 0...limit {
            try await time.settle()
            if await realm.permission == permission { return minute }
            try await time.pass(.seconds(60))
        }
        return -1
    }

    private func settled(_ permission: SyncPermission, _ realm: SyncedRealm) async {
        #expect(await eventually { await realm.permission == permission })
    }

    @Test("A realm waits for its window, runs in it, and waits for the next")
    func windows() async throws {
        let realm = try OfflineRealm(in: temporary).realm(status: 401)
        let policy = SchedulePolicy(windows: [try WeeklyWindow("Mon-Fri 22:00-22:10")])
        let keeper = try await keeper(of: realm, policy)
        await keeper.begin()
        #expect(
            await realm.permission
                == .paused(.scheduleWindow, detail: "until 2026-11-20T22:00:00.000Z")
        )
        let run = Task { await keeper.run() }
        #expect(try await minutes(until: .run, realm, atMost: 5) == 1)
        let closed = SyncPermission.paused(
            .scheduleWindow,
            detail: "until 2026-11-23T22:00:00.000Z"
        )
        #expect(try await minutes(until: closed, realm, atMost: 20) == 10)
        run.cancel()
        await run.value
    }

    /// Acts like the engine once all transfers are complete.
    private func finishRefresh(_ realm: SyncedRealm) async {
        await realm.allow(.paused(.refreshInterval, detail: nil))
        realm.scheduleAttention.raise()
    }

    private static let once = SyncPermission.once(reason: "refresh")

    @Test("A refresh runs at each instant, and the last one is remembered across restarts")
    func refresh() async throws {
        let realm = try OfflineRealm(in: temporary).realm(status: 401)
        let policy = SchedulePolicy(mode: .refresh(try CronExpression("0 * * * *")))
        let first = try await keeper(of: realm, policy)
        await first.begin()
        // There has never been one.
        #expect(await realm.permission == Self.once)
        let run = Task { await first.run() }
        await finishRefresh(realm)
        let next = SyncPermission.paused(
            .refreshInterval,
            detail: "until 2026-11-20T22:00:00.000Z"
        )
        await settled(next, realm)
        #expect(try await memory.lastRefresh() == Self.evening)
        #expect(try await minutes(until: Self.once, realm, atMost: 5) == 1)
        await finishRefresh(realm)
        await settled(
            .paused(.refreshInterval, detail: "until 2026-11-20T23:00:00.000Z"),
            realm
        )
        #expect(try await memory.lastRefresh() == Self.evening + .seconds(60))
        run.cancel()
        await run.value

        // Half an hour later nothing is due; two hours later what was missed is made up for, once.
        let early = try await keeper(of: realm, policy, start: Self.evening + .seconds(1_800))
        await early.begin()
        #expect(
            await realm.permission
                == .paused(.refreshInterval, detail: "until 2026-11-20T23:00:00.000Z")
        )
        let late = try await keeper(of: realm, policy, start: Self.evening + .seconds(7_200))
        await late.begin()
        #expect(await realm.permission == Self.once)
        let makingUp = Task { await late.run() }
        await finishRefresh(realm)
        await settled(
            .paused(.refreshInterval, detail: "until 2026-11-21T01:00:00.000Z"),
            realm
        )
        makingUp.cancel()
        await makingUp.value
    }

    @Test(
        "A refresh that was cut off, by its window or by a crash, is not one that was carried out"
    )
    func interrupted() async throws {
        let realm = try OfflineRealm(in: temporary).realm(status: 401)
        let policy = SchedulePolicy(
            mode: .refresh(try CronExpression("0 * * * *")),
            windows: [try WeeklyWindow("21:00-22:05")]
        )
        let keeper = try await keeper(of: realm, policy)
        await keeper.begin()
        #expect(await realm.permission == Self.once)
        let run = Task { await keeper.run() }
        let closed = SyncPermission.paused(
            .scheduleWindow,
            detail: "until 2026-11-21T21:00:00.000Z"
        )
        #expect(try await minutes(until: closed, realm, atMost: 10) == 6)
        run.cancel()
        await run.value
        #expect(try await memory.lastRefresh() == nil)
    }

    @Test("A poor network pauses realms configured for it, reports the reason, and resumes them")
    func poorNetwork() async throws {
        let realm = try OfflineRealm(in: temporary).realm(status: 401)
        let link = NetworkQualityMonitor(
            PoorNetwork(recoverAfter: .seconds(60)),
            time: time.syncTime
        )
        let keeper = try await keeper(
            of: realm,
            SchedulePolicy(pausesOn: [.poorNetwork]),
            link: link
        )
        await keeper.begin()
        #expect(await realm.permission == .run)
        let run = Task { await keeper.run() }
        link.note(.roundTrip(.seconds(2)))
        await settled(.paused(.poorNetwork, detail: "a round trip takes 2000 ms"), realm)
        link.note(.roundTrip(.milliseconds(10)))
        #expect(try await minutes(until: .run, realm, atMost: 3) == 1)

        // Without that setting no measurement causes a pause.
        await keeper.follow(SchedulePolicy(), NetworkPolicy())
        link.note(.loss(1))
        for _ in 0..<200 { await Task.yield() }
        #expect(await realm.permission == .run)
        run.cancel()
        await run.value
    }
}
