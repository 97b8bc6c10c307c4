import Coordination
import Scheduling
import SyncClient
import Synchronization
import TestSupport
import Testing

@testable import Agent

@Suite("The way to a server, watched", .timeLimit(.minutes(10)))
struct NetworkQualityMonitorTests {
    let time = SteppedClock()

    private func link(
        recoverAfter: Duration = .seconds(60),
        probeEvery: Duration = .seconds(300)
    ) -> NetworkQualityMonitor {
        NetworkQualityMonitor(
            PoorNetwork(recoverAfter: recoverAfter, probeEvery: probeEvery),
            time: time.syncTime
        )
    }

    @Test("Listeners learn each change, and the reason for poor quality")
    func verdicts() async throws {
        let link = link()
        let listener = Signal()
        link.tell(listener, realm: "stock")
        #expect(!link.verdict.isPoor)
        link.note(.roundTrip(.milliseconds(20)))
        link.note(.roundTrip(.milliseconds(1_430)))
        await listener.wait()
        #expect(link.verdict.isPoor)
        #expect(link.verdict.complaint.map { "\($0)" } == "a round trip takes 1430 ms")
        #expect(link.verdict.recoversIn == nil)
        link.note(.roundTrip(.milliseconds(30)))
        await listener.wait()
        #expect(link.verdict.recoversIn == .seconds(60))
        try await time.pass(.seconds(59), whenAsleep: 0)
        #expect(link.verdict.isPoor)
        try await time.pass(.seconds(1), whenAsleep: 0)
        #expect(
            link.verdict
                == NetworkQualityMonitor.Verdict(isPoor: false, complaint: nil, recoversIn: nil)
        )
    }

    @Test("Another interface, and other thresholds, make readings void; the same ones do not")
    func voidReadings() {
        let link = link()
        link.follow(interface: "eth0")
        link.note(.loss(0.5))
        #expect(link.verdict.complaint.map { "\($0)" } == "50 % of the segments are lost")
        link.follow(interface: "eth0")
        link.follow(interface: nil)
        link.follow(PoorNetwork(recoverAfter: .seconds(60), probeEvery: .seconds(300)))
        #expect(link.verdict.isPoor)
        link.follow(interface: "wlan0")
        #expect(!link.verdict.isPoor)
        link.note(.loss(0.5))
        link.follow(PoorNetwork(lossAbove: 0.6))
        #expect(!link.verdict.isPoor)
    }

    /// The results of probes, and their number.
    private final class Prober: Sendable {
        private let state = Mutex((reading: NetworkQuality.Reading.failure, count: 0))

        var count: Int { state.withLock(\.count) }

        func find(_ reading: NetworkQuality.Reading) { state.withLock { $0.reading = reading } }

        func probe(_ link: NetworkQualityMonitor) {
            let reading = state.withLock { state in
                state.count += 1
                return state.reading
            }
            link.note(reading)
        }

        func wait(for count: Int) async {
            #expect(await eventually { self.count >= count })
        }
    }

    @Test(
        "A waiting realm is probed at its intervals, and resumes only after good readings"
    )
    func probing() async throws {
        let link = link()
        let prober = Prober()
        let run = Task { await link.run { prober.probe(link) } }
        for _ in 0..<3 { link.note(.failure) }
        #expect(
            link.verdict.complaint.map { "\($0)" } == "3 attempts to connect failed or were slow"
        )
        link.setWaiting(true, realm: "stock")
        try await time.pass(.seconds(299))
        #expect(prober.count == 0)
        try await time.pass(.seconds(1))
        await prober.wait(for: 1)
        // Still no server: the next probe waits as long.
        try await time.pass(.seconds(30))
        prober.find(.attempt(.milliseconds(50)))
        try await time.pass(.seconds(269))
        #expect(prober.count == 1)
        try await time.pass(.seconds(1))
        await prober.wait(for: 2)
        // Once it was good, it is looked at again before it counts.
        try await time.pass(.seconds(30))
        await prober.wait(for: 3)
        #expect(link.verdict.isPoor)
        try await time.pass(.seconds(30))
        #expect(!link.verdict.isPoor)
        link.setWaiting(false, realm: "stock")
        run.cancel()
        await run.value
    }

    @Test("There are no probes unless a realm waits")
    func silence() async throws {
        let link = link(probeEvery: .seconds(10))
        let prober = Prober()
        let run = Task { await link.run { prober.probe(link) } }
        link.setWaiting(true, realm: "a")
        link.setWaiting(true, realm: "b")
        link.note(.loss(1))
        link.setWaiting(true, realm: "c")
        try await time.pass(.seconds(10))
        await prober.wait(for: 1)
        for realm in ["a", "b", "c"] { link.forget(realm: realm) }
        try await time.pass(.seconds(100), whenAsleep: 0)
        link.setWaiting(true, realm: "d")
        await prober.wait(for: 2)
        run.cancel()
        await run.value
        #expect(prober.count == 2)
    }
}
