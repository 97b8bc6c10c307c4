package import Control
import Coordination
import Platform
package import Scheduling
import SyncClient
import Synchronization

/// The events of this run of the agent, for any number of publishers and readers.
///
/// A ring keeps the newest events, and readers fetch them. A slow reader delays no publisher and
/// costs no memory: it misses overwritten events, and a `gap` says so.
package final class AgentEvents: Sendable {
    private struct State {
        /// Consecutive numbers, oldest first.
        var kept: [EventRecord] = []
        var next: UInt64
        /// The last published state of each realm; an unchanged state is not an event.
        var states: [String: StatePayload] = [:]
        var totals = EventTotals()
        var readers: [ObjectIdentifier: Signal] = [:]
    }

    private let state: Mutex<State>
    private let capacity: Int
    private let now: @Sendable () -> WallTime

    package init(capacity: Int = 4096, now: @escaping @Sendable () -> WallTime = WallTime.now) {
        self.capacity = capacity
        self.now = now
        // Microseconds: no agent publishes a million events a second for long, so a later run starts
        // behind all numbers of this one. Scripts read them exactly, being below 2^53.
        let start = UInt64(max(0, now().millisecondsSince1970)) * 1000 + 1
        self.state = Mutex(State(next: start))
    }

    package func publish(_ event: AgentEvent) {
        let time = now().description
        let readers = state.withLock { state -> [Signal] in
            if case .state(let payload) = event.payload, let realm = event.realm {
                guard state.states.updateValue(payload, forKey: realm) != payload else { return [] }
            }
            state.kept.append(EventRecord(sequence: state.next, at: time, event: event))
            state.next += 1
            state.totals.count(event)
            // Removing many at once keeps removals rare.
            if state.kept.count >= 2 * capacity { state.kept.removeFirst(capacity) }
            return Array(state.readers.values)
        }
        for reader in readers { reader.raise() }
    }

    /// Counts an occurrence that is not an event.
    func count(_ change: (inout EventTotals) -> Void) {
        state.withLock { change(&$0.totals) }
    }

    /// Totals of the events since the start.
    package var totals: EventTotals {
        state.withLock(\.totals)
    }

    /// The events after a position, or all that are kept; with `follow` also those to come.
    package func records(after position: UInt64?, follow: Bool) -> AsyncStream<EventRecord> {
        let reader = Reader(self, after: position)
        return AsyncStream(unfolding: { await reader.next(follow: follow) })
    }

    // MARK: Reading

    /// One reader's position among the events.
    private final class Reader: Sendable {
        private let events: AgentEvents
        private let position: Mutex<UInt64>
        private let news = Signal()

        init(_ events: AgentEvents, after position: UInt64?) {
            self.events = events
            self.position = Mutex(position ?? events.beginning)
            let id = ObjectIdentifier(self)
            events.state.withLock { $0.readers[id] = news }
        }

        deinit {
            let id = ObjectIdentifier(self)
            events.state.withLock { $0.readers[id] = nil }
        }

        func next(follow: Bool) async -> EventRecord? {
            while !Task.isCancelled {
                if let record = fetch() { return record }
                guard follow, await news.wait() else { return nil }
            }
            return nil
        }

        private func fetch() -> EventRecord? {
            position.withLock { position in
                guard let record = events.record(after: position) else { return nil }
                position = record.sequence
                return record
            }
        }
    }

    /// The position before the oldest event that is kept.
    private var beginning: UInt64 {
        state.withLock { ($0.kept.first?.sequence ?? $0.next) - 1 }
    }

    private func record(after position: UInt64) -> EventRecord? {
        state.withLock { state in
            let first = state.kept.first?.sequence ?? state.next
            // Too old, or of a run whose clock was ahead of ours.
            guard position < state.next, position + 1 >= first else {
                return EventRecord(
                    sequence: first - 1,
                    at: state.kept.first?.at ?? now().description,
                    event: AgentEvent(realm: nil, .gap)
                )
            }
            let index = Int(position + 1 - first)
            return index < state.kept.count ? state.kept[index] : nil
        }
    }
}
