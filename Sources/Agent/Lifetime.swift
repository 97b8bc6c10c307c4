/// A piece of work that runs until it returns or is ended.
///
/// Detached, since tasks that inherit values of their parents (`TaskLocal`) need memory for them.
final class Lifetime: Sendable {
    private let task: Task<Void, Never>

    init(_ work: @escaping @Sendable () async -> Void) {
        task = Task.detached { await work() }
    }

    /// Asks the work to end.
    func cancel() { task.cancel() }

    /// Ends the work, and returns when it has ended.
    func finish() async {
        task.cancel()
        await task.value
    }
}
