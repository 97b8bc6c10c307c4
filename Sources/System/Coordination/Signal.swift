import Synchronization

/// Wakes one waiting task; raising it several times before it is awaited wakes it once.
///
/// Instead of a task, an action may follow it, which costs no memory for a stack.
package final class Signal: Sendable {
    private enum State {
        case idle
        case raised
        case awaited(CheckedContinuation<Bool, Never>)
        case followed(@Sendable () -> Void)
    }

    private let state = Mutex<State>(.idle)

    package init() {}

    package func raise() {
        let before = state.withLock { state in
            let before = state
            switch state {
            case .awaited: state = .idle
            case .idle, .raised: state = .raised
            case .followed: break
            }
            return before
        }
        switch before {
        case .awaited(let waiter): waiter.resume(returning: true)
        case .followed(let action): action()
        case .idle, .raised: break
        }
    }

    /// Calls the action at each raise until `unfollow()`, and at once if it was raised before. No task may wait
    /// meanwhile.
    ///
    /// - Parameter action: called by the task that raises; must not block. It may be called once more after
    ///   `unfollow()` by a raise that has begun before.
    package func follow(_ action: @escaping @Sendable () -> Void) {
        let isRaised = state.withLock { state in
            defer { state = .followed(action) }
            switch state {
            case .idle: return false
            case .raised: return true
            case .awaited, .followed: preconditionFailure("a signal wakes one at a time")
            }
        }
        if isRaised { action() }
    }

    package func unfollow() {
        state.withLock { state in
            if case .followed = state { state = .idle }
        }
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
        await wait(unless: { false })
    }

    /// - Parameter hasTimedOut: called at the beginning; true ends the wait as a cancellation does.
    private func wait(unless hasTimedOut: @escaping @Sendable () -> Bool) async -> Bool {
        await withTaskCancellationHandler {
            await withCheckedContinuation { continuation in
                let isRaised = state.withLock { state -> Bool? in
                    switch state {
                    case .raised:
                        state = .idle
                        return true
                    case .idle where Task.isCancelled || hasTimedOut():
                        return false
                    case .idle:
                        state = .awaited(continuation)
                        return nil
                    case .awaited, .followed:
                        preconditionFailure("a signal wakes one at a time")
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
        await withDiscardingTaskGroup { group in
            let hasTimedOut = Atomic(false)
            group.addTask {
                try? await timeout()
                hasTimedOut.store(true, ordering: .sequentiallyConsistent)
                self.release()
            }
            let isRaised = await wait { hasTimedOut.load(ordering: .sequentiallyConsistent) }
            group.cancelAll()
            return isRaised
        }
    }
}
