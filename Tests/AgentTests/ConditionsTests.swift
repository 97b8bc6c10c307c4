import AppServices
import Config
import Control
import Logging
import Platform
import RealmFixtures
import RealmSync
import Scheduling
import SyncClient
import Synchronization
import TestSupport
import Testing

@testable import Agent

@Suite("Reports of the host's network and power", .timeLimit(.minutes(10)))
struct ConditionsTests {
    let temporary: TemporaryDirectory

    init() throws {
        self.temporary = try TemporaryDirectory()
    }

    /// Tells what a test says.
    private struct Host {
        private let stream: AsyncStream<Conditions>
        private let continuation: AsyncStream<Conditions>.Continuation

        init() {
            (stream, continuation) = AsyncStream.makeStream()
        }

        func follow(_ tell: (Conditions) async -> Void) async {
            for await conditions in stream { await tell(conditions) }
        }

        func tell(_ conditions: Conditions) { continuation.yield(conditions) }
    }

    // MARK: The agent as a whole

    private static let lowBattery = Conditions.Battery(charge: 0.2, isDischarging: true)

    /// Three realms of a user who can never log in.
    private func agent(_ host: Host) throws -> RunningAgent {
        let text = """
            apps: { shop: { app_id: shop, base_url: "http://127.0.0.1:1" } }
            users: { till: { app: shop, provider: anonymous } }
            network:
              deny_interfaces: [wwan*]
              metered: { guess: true }
              battery: { low_below: 30% }
            realms:
              all: { user: till, partition: { string: a } }
              cheap: { user: till, partition: { string: b }, schedule: { pause_on: [metered] } }
              frugal:
                user: till
                partition: { string: c }
                schedule: { pause_on: [low-battery, metered] }
            """
        let fixture = try ConfigurationFixture(text, in: temporary)
        let parts = try fixture.parts(in: temporary)
        return RunningAgent(fixture.configuration, parts) { await host.follow($0) }
    }

    /// The causes of the realms that are paused; the others have tried to log in.
    private func pauses(_ agent: RunningAgent) async -> [String: String] {
        let paused = await agent.status().filter { $0.state == .paused }
        return Dictionary(paused.map { ($0.name, $0.cause ?? "") }) { first, _ in first }
    }

    private func wait(for pauses: [String: String], _ agent: RunningAgent) async {
        #expect(await eventually { await self.pauses(agent) == pauses })
    }

    @Test(
        "Realms pause and resume with each configured cause",
        .timeLimit(.minutes(10))
    )
    func pausing() async throws {
        let host = Host()
        let agent = try agent(host)
        let run = Task { await agent.run() }
        let denied = "denied-interface"

        host.tell(Conditions(interface: "wwan0", metering: .yes))
        await wait(for: ["all": denied, "cheap": denied, "frugal": denied], agent)
        host.tell(Conditions(interface: "eth0", metering: .guessedYes, battery: Self.lowBattery))
        await wait(for: ["cheap": "metered", "frugal": "metered"], agent)
        host.tell(Conditions(interface: "eth0", metering: .no, battery: Self.lowBattery))
        await wait(for: ["frugal": "low-battery"], agent)
        var charging = Self.lowBattery
        charging.isDischarging = false
        host.tell(Conditions(interface: "eth0", battery: charging))
        await wait(for: [:], agent)

        run.cancel()
        await run.value
        await agent.close()
    }

    @Test("No realm asks a server before the host has been asked", .timeLimit(.minutes(10)))
    func order() async throws {
        let host = Host()
        let watch = ConditionsWatch { await host.follow($0) }
        let exchange = CountingExchange()
        let realm = try OfflineRealm(in: temporary).realm(status: 401, exchange: exchange)
        let keeper = try keeper(of: realm, watch)
        await withTaskGroup { group in
            group.addTask { await watch.run {} }
            group.addTask {
                await watch.settled()
                await keeper.begin()
                await realm.run()
            }
            host.tell(Conditions(interface: "wwan0"))
            #expect(
                await eventually {
                    await realm.permission == .paused(.deniedInterface, detail: nil)
                }
            )
            #expect(exchange.count == 0)
            group.cancelAll()
        }
    }

    @Test("A host without reports delays no realm")
    func silence() async {
        let watch = ConditionsWatch { _ in }
        async let running: Void = watch.run {}
        await watch.settled()
        await running
        #expect(watch.conditions == Conditions())
    }

    // MARK: One realm

    /// Refuses everything, and counts.
    private final class CountingExchange: HTTPExchange {
        private let requests = Mutex(0)

        var count: Int { requests.withLock { $0 } }

        func reset() { requests.withLock { $0 = 0 } }

        func perform(
            _ request: ServiceRequest,
            timeout: Duration
        ) async throws(UnreachableError) -> ServiceResponse {
            requests.withLock { $0 += 1 }
            throw UnreachableError(reason: "no network")
        }
    }

    private func keeper(
        of realm: SyncedRealm,
        _ watch: ConditionsWatch
    ) throws -> ScheduleKeeper {
        let database = try OfflineRealm(in: temporary).database()
        return ScheduleKeeper(
            realm,
            SchedulePolicy(),
            memory: RefreshMemory(database: database, realm: "stock"),
            network: NetworkPolicy(deniedInterfaces: [NamePattern("wwan*")]),
            time: .continuous,
            now: { Instant(secondsSince1970: 0) },
            conditions: { watch.conditions },
            seed: 1,
            logger: Logger(label: "test") { _ in SwiftLogNoOpLogHandler() }
        )
    }

    @Test(
        "What failed is tried again as soon as another interface carries the default route",
        .timeLimit(.minutes(10))
    )
    func reconnecting() async throws {
        let host = Host()
        let watch = ConditionsWatch { await host.follow($0) }
        let exchange = CountingExchange()
        // After a failure it would wait for ten minutes.
        let realm = try OfflineRealm(in: temporary).realm(status: nil, exchange: exchange)
        let keeper = try keeper(of: realm, watch)
        await withTaskGroup { group in
            group.addTask { await watch.run { keeper.lookAgain() } }
            group.addTask { await realm.run() }
            host.tell(Conditions())
            await watch.settled()
            await keeper.begin()
            group.addTask { await keeper.run() }
            for interface in ["eth0", "wlan0"] {
                #expect(await eventually { exchange.count != 0 })
                exchange.reset()
                host.tell(Conditions(interface: interface))
            }
            #expect(await eventually { exchange.count != 0 })
            exchange.reset()
            host.tell(Conditions(interface: "wwan0"))
            #expect(await eventually { await realm.permission != .run })
            #expect(exchange.count == 0)
            host.tell(Conditions(interface: "wlan0"))
            #expect(await eventually { exchange.count != 0 })
            group.cancelAll()
        }
    }
}
