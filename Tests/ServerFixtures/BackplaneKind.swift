package import ServerStore

/// Every implementation of the backplane: all of them pass the same suite.
package enum BackplaneKind: CaseIterable, CustomStringConvertible {
    case inProcess

    package var description: String {
        switch self {
        case .inProcess: "in one process"
        }
    }

    /// Lends the ends of one backplane, one for each process.
    package func withProcesses<Result>(
        _ count: Int,
        _ body: ([any Backplane]) async throws -> Result
    ) async throws -> Result {
        switch self {
        case .inProcess:
            let backplane = InProcessBackplane()
            return try await body(Array(repeating: backplane, count: count))
        }
    }
}
