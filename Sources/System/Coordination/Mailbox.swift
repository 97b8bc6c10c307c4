import Synchronization

/// A queue without a bound, for elements that are small and few. One task takes them.
///
/// A task that waits for an element costs little memory: it holds one small frame.
package final class Mailbox<Element: Sendable>: Sendable {
    private enum State {
        case open([Element])
        /// A task waits, so there is no element.
        case awaited(CheckedContinuation<Void, Never>)
        /// Elements from before the end can still be taken.
        case finished([Element])
    }

    private let state = Mutex(State.open([]))

    package init() {}

    /// Returns false if the mailbox is finished, and the element dropped.
    @discardableResult
    package func put(_ element: Element) -> Bool {
        let outcome = state.withLock { state -> (Bool, CheckedContinuation<Void, Never>?) in
            switch state {
            case .open(var elements):
                // Without a second reference, the array grows in place.
                state = .open([])
                elements.append(element)
                state = .open(elements)
                return (true, nil)
            case .awaited(let waiter):
                state = .open([element])
                return (true, waiter)
            case .finished:
                return (false, nil)
            }
        }
        outcome.1?.resume()
        return outcome.0
    }

    /// Accepts no more elements.
    package func finish() {
        end { $0 }
    }

    /// Accepts no more elements, and drops those that are not taken.
    package func clear() {
        end { _ in [] }
    }

    private func end(keeping kept: ([Element]) -> [Element]) {
        let waiter = state.withLock { state -> CheckedContinuation<Void, Never>? in
            switch state {
            case .open(let elements), .finished(let elements):
                state = .finished(kept(elements))
                return nil
            case .awaited(let waiter):
                state = .finished([])
                return waiter
            }
        }
        waiter?.resume()
    }

    /// The elements in it, in order, as soon as there is one; none at the end. Cancellation does not end
    /// the wait: who cancels finishes the mailbox, too.
    package func takeAll() async -> [Element] {
        if let elements = takePresent() { return elements }
        await withCheckedContinuation { continuation in
            let isWaiting = state.withLock { state in
                switch state {
                case .open(let elements) where elements.isEmpty:
                    state = .awaited(continuation)
                    return true
                case .open, .finished: return false
                case .awaited: preconditionFailure("one task takes from a mailbox")
                }
            }
            if !isWaiting { continuation.resume() }
        }
        return takePresent() ?? []
    }

    /// Nil if a task would have to wait for an element.
    private func takePresent() -> [Element]? {
        state.withLock { state in
            switch state {
            case .open(let elements):
                state = .open([])
                return elements.isEmpty ? nil : elements
            case .finished(let elements):
                state = .finished([])
                return elements
            case .awaited: preconditionFailure("one task takes from a mailbox")
            }
        }
    }
}
