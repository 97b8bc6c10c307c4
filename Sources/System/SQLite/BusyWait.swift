internal import CSQLite
internal import Glibc

/// The waits of a statement for a lock that another connection holds.
///
/// SQLite's own grow to a tenth of a second. A program that writes one transaction after the other leaves the lock
/// free for some milliseconds only, mostly while it copies its log, and those waits miss them: 0.5 s of inserts could
/// pass before any was captured (`Benchmarks/path.py`).
enum BusyWait {
    /// While another connection is likely to be between short transactions.
    private static let shortInMilliseconds = 1
    private static let shortWaits = 1000
    private static let longInMilliseconds = 5

    /// Waits until the time has passed, which is a little longer than asked for.
    static func install(on handle: OpaquePointer, atMost limit: Duration) {
        // The context is the number itself: a closed connection may live on until its last statement ends.
        sqlite3_busy_handler(
            handle,
            { limit, count in
                let wait = BusyWait.wait(
                    after: count,
                    limitInMilliseconds: Int(bitPattern: limit)
                )
                usleep(UInt32(clamping: wait * 1000))
                return wait > 0 ? 1 : 0
            },
            UnsafeMutableRawPointer(bitPattern: limit.wholeMilliseconds)
        )
    }

    /// The milliseconds to wait after so many waits; 0 once they have taken the whole time.
    static func wait(after count: Int32, limitInMilliseconds limit: Int) -> Int {
        let count = Int(count)
        let short = min(count, shortWaits) * shortInMilliseconds
        let long = max(0, count - shortWaits) * longInMilliseconds
        let next = count < shortWaits ? shortInMilliseconds : longInMilliseconds
        return max(0, min(next, limit - short - long))
    }
}

extension Duration {
    fileprivate var wholeMilliseconds: Int {
        let (seconds, attoseconds) = components
        return Int(clamping: seconds * 1000 + attoseconds / 1_000_000_000_000_000)
    }
}
