import Config
import Control
import Platform
import RealmSync
import Scheduling
import SyncClient
import Testing

@testable import Agent

@Suite("The agent's events")
struct AgentEventsTests {
    let events = AgentEvents(capacity: 4, now: { WallTime(millisecondsSince1970: 1_000) })

    func publish(_ numbers: ClosedRange<Int>) {
        for number in numbers {
            events.publish(
                AgentEvent(
                    realm: "stock",
                    .error(ErrorPayload(code: "\(number)", message: "", fatal: false))
                )
            )
        }
    }

    func codes(after position: UInt64?) async -> [String] {
        await events.records(after: position, follow: false).reduce(into: []) { codes, record in
            guard case .error(let payload) = record.event.payload else {
                return codes.append("gap")
            }
            codes.append(payload.code)
        }
    }

    @Test("Numbers increase by one, and a reader continues after any of them")
    func positions() async {
        publish(1...3)
        var sequences: [UInt64] = []
        for await record in events.records(after: nil, follow: false) {
            sequences.append(record.sequence)
        }
        #expect(sequences == [1_000_001, 1_000_002, 1_000_003])
        #expect(await codes(after: 1_000_001) == ["2", "3"])
        #expect(await codes(after: 1_000_003) == [])
    }

    @Test("A reader that comes too late, or from an earlier run, gets a gap")
    func gaps() async {
        publish(1...9)
        // Kept are between the newest four and twice as many.
        #expect(await codes(after: 1_000_001) == ["gap", "5", "6", "7", "8", "9"])
        #expect(await codes(after: 5) == ["gap", "5", "6", "7", "8", "9"])
        #expect(await codes(after: 2_000_000) == ["gap", "5", "6", "7", "8", "9"])
        #expect(await codes(after: .max) == ["gap", "5", "6", "7", "8", "9"])
        #expect(await codes(after: nil) == ["5", "6", "7", "8", "9"])
    }

    @Test("A later run of the agent starts behind all numbers of an earlier one")
    func restart() async {
        publish(1...9)
        let later = AgentEvents(now: { WallTime(millisecondsSince1970: 1_001) })
        later.publish(AgentEvent(realm: nil, .gap))
        for await record in later.records(after: nil, follow: false) {
            #expect(record.sequence > 1_000_009)
        }
    }

    @Test("A follower gets what comes while it waits, and ends when it is cancelled")
    func following() async {
        let follower = Task {
            var codes: [String] = []
            for await record in events.records(after: nil, follow: true) {
                guard case .error(let payload) = record.event.payload else { continue }
                codes.append(payload.code)
                if codes.count == 2 { break }
            }
            return codes
        }
        publish(1...2)
        #expect(await follower.value == ["1", "2"])
        let waiting = Task {
            for await _ in events.records(after: 1_000_002, follow: true) {}
        }
        waiting.cancel()
        await waiting.value
    }

    @Test("A reader that never reads delays no other, and only misses overwritten events")
    func slowReader() async {
        let stream = events.records(after: nil, follow: true)
        publish(1...1000)
        var iterator = stream.makeAsyncIterator()
        let first = await iterator.next()
        #expect(first?.event.payload == .gap)
    }

    @Test("An unchanged state is not an event")
    func sameState() async {
        let states: [StatePayload] = [
            .init(state: .connecting), .init(state: .connecting), .init(state: .open),
            .init(state: .offline, cause: "backoff"), .init(state: .offline, cause: "no-network"),
        ]
        for state in states { events.publish(AgentEvent(realm: "a", .state(state))) }
        events.publish(AgentEvent(realm: "b", .state(.init(state: .connecting))))
        var count = 0
        for await _ in events.records(after: nil, follow: false) { count += 1 }
        #expect(count == 5)
    }

    @Test("What the server has taken is counted, and no event")
    func acknowledgements() async {
        for durations in [[], [Duration.milliseconds(5), .milliseconds(7)]] {
            events.publish(.uploaded(changesets: 3, after: durations), realm: "stock")
        }
        #expect(events.totals.uploads == ["stock": 6])
        #expect(events.totals.acknowledgements.keys.sorted() == ["stock"])
        for await record in events.records(after: nil, follow: false) {
            Issue.record("\(record)")
        }
    }
}
