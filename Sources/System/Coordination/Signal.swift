import Synchronization

/// Wakes one waiting task; raising it several times before it is awaited wakes it once.
package final class Signal: Sendable {
    private enum State {
        case idle
        case raised
        case awaited(CheckedContinuation<Bool, Never>)
    }

    private let state = Mutex<State>(.idle)

    package init() {}

    package func raise() {
        let waiter = state.withLock { state -> CheckedContinuation<Bool, Never>? in
            if case .awaited(let waiter) = state {
                state = .idle
                return waiter
            }
            state = .raised
            return nil
        }
        waiter?.resume(returning: true)
    }

    /// Forgets that it was raised.
    package func lower() {
        state.withLock { state in
            if case .raised = state { state = .idle }
        }
    }

    /// Ends the wait of a cancelled task; the signal stays as it is.
    private func release() {
        let waiter = state.withLock { state -> CheckedContinuation<Bool, Never>? in
            guard case .awaited(let waiter) = state else { return nil }
            state = .idle
            return waiter
        }
        waiter?.resume(returning: false)
    }

    /// Returns once the signal has been raised since the last return, or the task is cancelled; true
    /// if it was raised.
    ///
    /// One task may wait at a time.
    @discardableResult
    package func wait() async -> Bool {
        await withTaskCancellationHandler {
            await withCheckedContinuation { continuation in
                let isRaised = state.withLock { state -> Bool? in
                    switch state {
                    case .raised:
                        state = .idle
                        return true
                    case .idle where Task.isCancelled:
                        return false
                    case .idle:
                        state = .awaited(continuation)
                        return nil
                    case .awaited:
                        preconditionFailure("a signal has one waiter at a time")
                    }
                }
                if let isRaised { continuation.resume(returning: isRaised) }
            }
        } onCancel: {
            release()
        }
    }

    /// Waits for the signal until `timeout` returns; true if it was raised in time.
    package func wait(until timeout: @escaping @Sendable () async throws -> Void) async -> Bool {
        await withTaskGroup(of: Bool.self) { group in
            group.addTask { await self.wait() }
            group.addTask {
                try? await timeout()
                return false
            }
            let isFirstRaised = await group.next() ?? false
            group.cancelAll()
            // A raise at the very end of the timeout counts: no other wait would see it.
            return await group.reduce(isFirstRaised) { $0 || $1 }
        }
    }
}
