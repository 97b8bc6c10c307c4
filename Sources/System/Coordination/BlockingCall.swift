import Dispatch

/// Work that blocks, on a thread of its own: those that run everything else must not wait.
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
