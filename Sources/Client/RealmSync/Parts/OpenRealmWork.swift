import Coordination
import SyncClient
import Synchronization

/// Work that callers ask of an open realm, apart from syncing: manual resets and their rehearsals.
///
/// It is cancelled when its caller is cancelled or the realm closes, and the file closes after it has
/// ended. In the caller's own task it would outlive the realm, and wait for a connection without end.
final class OpenRealmWork<Client: Sendable>: Sendable {
    private struct Item {
        let run: @Sendable (Client) async -> Void
        let abandon: @Sendable () -> Void
    }

    private enum State {
        case closed
        /// The work that has not begun.
        case open([Item])
    }

    private let state = Mutex(State.closed)
    private let added = Signal()

    /// Accepts work from now on; `close` must follow.
    func open() {
        state.withLock { $0 = .open([]) }
    }

    /// Accepts no more work, and abandons what has not begun.
    func close() {
        for item in takeItems(andSet: .closed) { item.abandon() }
    }

    /// Carries out the work between `open` and `close`.
    func duty(with client: Client) -> Duty {
        Duty(on: added, isDueAtOnce: true, isConcurrent: true) { [self] _ in
            guard !Task.isCancelled else { return .onSignal }
            await withDiscardingTaskGroup { group in
                for item in takeItems(andSet: .open([])) {
                    group.addTask { await item.run(client) }
                }
            }
            return .onSignal
        }
    }

    private func takeItems(andSet next: State) -> [Item] {
        state.withLock { state in
            guard case .open(let items) = state else { return [] }
            state = next
            return items
        }
    }

    /// - Returns: nil if the realm is not open, or closes before the work begins.
    func perform<Value: Sendable>(
        _ work: @escaping @Sendable (Client) async -> Value
    ) async -> Value? {
        let (result, callerLeft) = (Promise<Value?>(), Signal())
        let item = Item(
            run: { client in
                result.keep(await Self.run(until: callerLeft) { await work(client) })
            },
            abandon: { result.keep(nil) }
        )
        guard append(item) else { return nil }
        added.raise()
        return await withTaskCancellationHandler {
            await result.value
        } onCancel: {
            callerLeft.raise()
        }
    }

    private func append(_ item: Item) -> Bool {
        state.withLock { state in
            guard case .open(let items) = state else { return false }
            state = .open(items + [item])
            return true
        }
    }

    /// Cancels the work when the signal is raised, and returns its result in any case.
    private static func run<Value: Sendable>(
        until end: Signal,
        _ work: @escaping @Sendable () async -> Value
    ) async -> Value? {
        await withTaskGroup(of: Value?.self) { group in
            group.addTask { await work() }
            group.addTask {
                await end.wait()
                return nil
            }
            var value: Value?
            for await result in group {
                value = value ?? result
                group.cancelAll()
            }
            return value
        }
    }
}
