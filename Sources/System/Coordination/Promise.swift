import Synchronization

/// A value that arrives later: any number of tasks wait for it, and the first value given counts.
///
/// Cancellation does not end a wait, since the code that follows relies on the value. For a wait
/// with a limit, let a clock give the value, too.
package final class Promise<Value: Sendable>: Sendable {
    private enum State {
        case open([CheckedContinuation<Value, Never>])
        case kept(Value)
    }

    private let state = Mutex(State.open([]))

    package init() {}

    package var value: Value {
        get async {
            await withCheckedContinuation { continuation in
                let value = state.withLock { state -> Value? in
                    switch state {
                    case .kept(let value):
                        return value
                    case .open(let waiting):
                        state = .open(waiting + [continuation])
                        return nil
                    }
                }
                if let value { continuation.resume(returning: value) }
            }
        }
    }

    /// Gives the value to all tasks that wait, now and later. Only the first call counts.
    package func keep(_ value: Value) {
        let woken = state.withLock { state -> [CheckedContinuation<Value, Never>] in
            guard case .open(let waiting) = state else { return [] }
            state = .kept(value)
            return waiting
        }
        for continuation in woken { continuation.resume(returning: value) }
    }
}

extension Promise<Void> {
    package func keep() { keep(()) }
}
