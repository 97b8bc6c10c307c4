import Synchronization

/// Wakes one waiting task; raising it several times before it is awaited wakes it once.
package final class Signal: Sendable {
    private enum State {
        case idle
        case raised
        case awaited(CheckedContinuation<Void, Never>)
    }

    private let state = Mutex<State>(.idle)

    package init() {}

    package func raise() {
        let waiter = state.withLock { state -> CheckedContinuation<Void, Never>? in
            if case .awaited(let waiter) = state {
                state = .idle
                return waiter
            }
            state = .raised
            return nil
        }
        waiter?.resume()
    }

    /// Lets go of a task that waits, without raising the signal for anybody else.
    private func release() {
        let waiter = state.withLock { state -> CheckedContinuation<Void, Never>? in
            guard case .awaited(let waiter) = state else { return nil }
            state = .idle
            return waiter
        }
        waiter?.resume()
    }

    /// Returns once the signal has been raised since the last return, or the task is cancelled.
    ///
    /// One task may wait at a time.
    package func wait() async {
        await withTaskCancellationHandler {
            await withCheckedContinuation { continuation in
                let resumesNow = state.withLock { state -> Bool in
                    switch state {
                    case .raised:
                        state = .idle
                        return true
                    case .idle where Task.isCancelled:
                        return true
                    case .idle:
                        state = .awaited(continuation)
                        return false
                    case .awaited:
                        preconditionFailure("a signal has one waiter at a time")
                    }
                }
                if resumesNow { continuation.resume() }
            }
        } onCancel: {
            release()
        }
    }

    /// Waits for the signal, but no longer than the duration; true if it was raised in time.
    package func wait(atMost duration: Duration, _ time: SyncTime) async -> Bool {
        await withTaskGroup(of: Bool.self) { group in
            group.addTask {
                await self.wait()
                return true
            }
            group.addTask {
                try? await time.sleep(duration)
                return false
            }
            let isRaised = await group.next() ?? false
            group.cancelAll()
            return isRaised
        }
    }
}
