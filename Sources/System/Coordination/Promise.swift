import Synchronization

/// A value that is there later: any number of tasks wait for it, and the first one given counts.
///
/// Cancellation does not end a wait: what follows relies on the value. A wait with a limit is one where
/// a clock may give the value, too.
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

    /// Gives the value to all who wait, now and later. Only the first call counts.
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
