import Dispatch
import Scheduling
import Synchronization

/// Asks whether traffic costs money, without waiting long for the result.
///
/// The request goes over a message bus, which may hang. It runs on a thread of its own, one request
/// at a time; until it returns, the last result holds.
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

    /// Starts a request unless one is still running, and reports when the result differs.
    func ask(onChange: @escaping @Sendable () -> Void) {
        begin { if $0 { onChange() } }
    }

    /// The same, but returns when there is a result, or after the limit.
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

    /// `answered` learns whether the result differs from the last one.
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
