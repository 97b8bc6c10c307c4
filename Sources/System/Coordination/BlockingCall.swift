import Dispatch

/// Runs blocking work on its own thread, since the threads of ordinary tasks must not wait.
package enum BlockingCall {
    /// - Parameter label: shows in debuggers and thread lists.
    package static func run<Value: Sendable, Failure: Error>(
        label: String = "blocking",
        _ work: @escaping @Sendable () throws(Failure) -> Value
    ) async throws(Failure) -> Value {
        let result: Result<Value, Failure> = await withCheckedContinuation { continuation in
            DispatchQueue(label: label).async {
                do throws(Failure) {
                    continuation.resume(returning: .success(try work()))
                } catch {
                    continuation.resume(returning: .failure(error))
                }
            }
        }
        return try result.get()
    }
}
