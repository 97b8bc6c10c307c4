/// Limits for the processes of a server, and their clocks (server on PostgreSQL, 6.5).
package enum ProcessLimits {
    /// A process that was not seen for longer does not count.
    package static let aliveSeconds: Int64 = 15
    /// A clock that differs from the database's by more milliseconds is reported.
    package static let tolerableOffset: Int64 = 2_000
    /// A process whose clock differs by more milliseconds is not ready, and does no job.
    package static let longestOffset: Int64 = 60_000
}
