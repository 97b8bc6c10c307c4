import Synchronization

/// A bounded queue: producers wait while it is full. One task consumes.
package final class BoundedQueue<Element: Sendable, Failure: Error>: Sendable {
    private enum End {
        case finished
        case failed(Failure)
    }

    private struct State {
        var elements: [Element] = []
        var end: End?
        var consumer: CheckedContinuation<Void, Never>?
        /// In place of a consumer that does not wait.
        var watch: (@Sendable () -> Void)?
        var producers: [CheckedContinuation<Void, Never>] = []

        mutating func takeConsumer() -> Waiters {
            defer { (consumer, watch) = (nil, nil) }
            return Waiters(continuations: consumer.map { [$0] } ?? [], watch: watch)
        }

        mutating func takeProducers() -> Waiters {
            defer { producers = [] }
            return Waiters(continuations: producers)
        }
    }

    private let capacity: Int
    private let state = Mutex(State())

    package init(capacity: Int) {
        self.capacity = capacity
    }

    /// Waits for room; false if the queue has ended, and the element is dropped.
    package func push(_ element: Element) async -> Bool {
        while !Task.isCancelled {
            let attempt = state.withLock { state -> (verdict: Bool?, woken: Waiters) in
                if state.end != nil { return (false, Waiters()) }
                guard state.elements.count < capacity else { return (nil, Waiters()) }
                state.elements.append(element)
                return (true, state.takeConsumer())
            }
            attempt.woken.resume()
            if let verdict = attempt.verdict { return verdict }
            await waitForPlace()
        }
        return false
    }

    /// Adds an element, also to a full queue: for a producer that cannot wait, and looks at `isFull`
    /// before the next one. False if the queue has ended, and the element is dropped.
    package func add(_ element: Element) -> Bool {
        let (isAdded, woken) = state.withLock { state -> (Bool, Waiters) in
            guard state.end == nil else { return (false, Waiters()) }
            state.elements.append(element)
            return (true, state.takeConsumer())
        }
        woken.resume()
        return isAdded
    }

    package var isFull: Bool { state.withLock { $0.elements.count >= capacity } }

    /// Whether `pop` would return at once. If not, `wake` is called once it would, on any thread: no task
    /// has to wait.
    package func isReady(orWake wake: @escaping @Sendable () -> Void) -> Bool {
        state.withLock { state in
            let isReady = !state.elements.isEmpty || state.end != nil
            state.watch = isReady ? nil : wake
            return isReady
        }
    }

    /// The next element; nil at the end, or when the task is cancelled.
    package func pop() async throws(Failure) -> Element? {
        while !Task.isCancelled {
            let next = state.withLock { state -> (element: Element?, end: End?, woken: Waiters) in
                guard !state.elements.isEmpty else { return (nil, state.end, Waiters()) }
                return (state.elements.removeFirst(), nil, state.takeProducers())
            }
            next.woken.resume()
            if let element = next.element { return element }
            switch next.end {
            case .finished: return nil
            case .failed(let error): throw error
            case nil: await waitForElement()
            }
        }
        return nil
    }

    /// Ends the queue; elements in it can still be popped. Only the first end counts.
    package func finish(throwing error: Failure? = nil) {
        let woken = state.withLock { state -> Waiters in
            guard state.end == nil else { return Waiters() }
            state.end = error.map { .failed($0) } ?? .finished
            var woken = state.takeConsumer()
            woken.continuations += state.takeProducers().continuations
            return woken
        }
        woken.resume()
    }
}

// MARK: Waiting

extension BoundedQueue {
    /// Tasks to wake, but only once the lock is free: otherwise a wake-up and a cancellation of the
    /// same task could deadlock.
    private struct Waiters {
        var continuations: [CheckedContinuation<Void, Never>] = []
        var watch: (@Sendable () -> Void)?

        func resume() {
            for continuation in continuations { continuation.resume() }
            watch?()
        }
    }

    private func waitForElement() async {
        await wait { state, continuation in
            guard state.elements.isEmpty, state.end == nil else { return false }
            precondition(state.consumer == nil, "one task receives at a time")
            state.consumer = continuation
            return true
        } onCancel: { state in
            defer { state.consumer = nil }
            return Waiters(continuations: state.consumer.map { [$0] } ?? [])
        }
    }

    private func waitForPlace() async {
        await wait { state, continuation in
            guard state.elements.count >= capacity, state.end == nil else { return false }
            state.producers.append(continuation)
            return true
        } onCancel: { state in
            // Those that are not cancelled re-check the queue and wait again.
            state.takeProducers()
        }
    }

    /// Suspends unless `enlist` finds no reason to wait.
    private func wait(
        _ enlist: (inout sending State, CheckedContinuation<Void, Never>) -> Bool,
        onCancel: @escaping @Sendable (inout sending State) -> Waiters
    ) async {
        await withTaskCancellationHandler {
            await withCheckedContinuation { continuation in
                let isWaiting = state.withLock { state in
                    !Task.isCancelled && enlist(&state, continuation)
                }
                if !isWaiting { continuation.resume() }
            }
        } onCancel: {
            state.withLock { onCancel(&$0) }.resume()
        }
    }
}
