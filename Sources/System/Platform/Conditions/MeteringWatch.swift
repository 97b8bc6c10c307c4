import Dispatch
import Scheduling
import Synchronization

/// Asks whether traffic costs money, without ever waiting long for an answer.
///
/// The question goes over a message bus, which may hang. It is asked on a thread that nobody waits for,
/// one question at a time; until there is an answer, the last one holds.
final class MeteringWatch: Sendable {
    private struct State {
        var latest = Conditions.Metering.unknown
        var isAsking = false
    }

    private let question: @Sendable () -> Conditions.Metering
    private let queue = DispatchQueue(label: "metering")
    private let state = Mutex(State())

    init(_ question: @escaping @Sendable () -> Conditions.Metering) {
        self.question = question
    }

    var latest: Conditions.Metering { state.withLock(\.latest) }

    /// Asks, unless the last question is still open, and says when another answer has come.
    func ask(onChange: @escaping @Sendable () -> Void) {
        begin { if $0 { onChange() } }
    }

    /// The same, but returns when an answer has come, or the time is over.
    func ask(waitAtMost limit: Duration, onChange: @escaping @Sendable () -> Void) async {
        let (answers, answer) = AsyncStream.makeStream(of: Void.self)
        begin {
            answer.finish()
            if $0 { onChange() }
        }
        await withTaskGroup(of: Void.self) { group in
            group.addTask { for await _ in answers {} }
            group.addTask { try? await Task.sleep(for: limit) }
            await group.next()
            group.cancelAll()
        }
    }

    /// `answered` hears whether the answer is another one than before.
    private func begin(_ answered: @escaping @Sendable (Bool) -> Void) {
        let isFree = state.withLock { state in
            defer { state.isAsking = true }
            return !state.isAsking
        }
        guard isFree else { return }
        queue.async { [self] in
            let new = question()
            let hasChanged = state.withLock { state in
                defer { (state.latest, state.isAsking) = (new, false) }
                return state.latest != new
            }
            answered(hasChanged)
        }
    }
}
