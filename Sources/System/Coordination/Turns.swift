import Synchronization

/// Lets a few tasks work at a time. The others wait and get their turns by source, as in
/// `FairQueue`.
///
/// A turn passes straight on to the next task, so no task overtakes another. A cancelled task keeps
/// its place, and its work finds out.
package final class Turns<Source: Hashable & Sendable>: Sendable {
    private struct State {
        var working = 0
        /// True when it is the task's turn, false when too many tasks wait.
        var waiting: FairQueue<Source, CheckedContinuation<Bool, Never>>
    }

    private let atOnce: Int
    private let state: Mutex<State>

    /// - Parameter waitingAtMost: beyond it, the latest task of the source with the most of them is
    ///   refused.
    package init(atOnce: Int = 1, waitingAtMost: Int) {
        precondition(atOnce > 0, "at least one task must be allowed to work")
        self.atOnce = atOnce
        self.state = Mutex(State(waiting: FairQueue(capacity: waitingAtMost)))
    }

    /// The numbers of working and of waiting tasks.
    package var load: (working: Int, waiting: Int) {
        state.withLock { ($0.working, $0.waiting.count) }
    }

    /// Does the work when it is the task's turn; throws the refusal if too many tasks wait.
    package func take<Outcome, Failure: Error>(
        from source: Source,
        orThrow refusal: Failure,
        _ work: () async throws(Failure) -> Outcome
    ) async throws(Failure) -> Outcome {
        guard await enter(source) else { throw refusal }
        defer { leave() }
        return try await work()
    }

    fileprivate func enter(_ source: Source) async -> Bool {
        await withCheckedContinuation { continuation in
            let answered = state.withLock { state -> (CheckedContinuation<Bool, Never>, Bool)? in
                guard state.working == atOnce else {
                    state.working += 1
                    return (continuation, true)
                }
                return state.waiting.append(continuation, from: source).map { ($0, false) }
            }
            if let (task, mayWork) = answered { task.resume(returning: mayWork) }
        }
    }

    fileprivate func leave() {
        let next = state.withLock { state in
            let next = state.waiting.next()
            if next == nil { state.working -= 1 }
            return next
        }
        next?.resume(returning: true)
    }
}

/// The single source of turns that are taken in order of arrival.
package enum OrderOfArrival: Sendable {
    case queue
}

extension Turns<OrderOfArrival> {
    /// With no limit on waiting tasks.
    package convenience init(atOnce: Int = 1) {
        self.init(atOnce: atOnce, waitingAtMost: .max)
    }

    /// Does the work when it is the task's turn. The turns must have no limit.
    package func take<Outcome, Failure: Error>(
        _ work: () async throws(Failure) -> Outcome
    ) async throws(Failure) -> Outcome {
        let mayWork = await enter(.queue)
        precondition(mayWork, "turns with a limit need a refusal to throw")
        defer { leave() }
        return try await work()
    }
}
