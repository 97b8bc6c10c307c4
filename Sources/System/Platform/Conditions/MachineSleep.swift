import Glibc

/// The time for which this machine has slept since it was started.
package enum MachineSleep {
    /// The clock that runs during sleep less the one that stops; zero if either cannot be read.
    package static func total() -> Duration {
        guard let whole = read(CLOCK_BOOTTIME), let awake = read(CLOCK_MONOTONIC) else {
            return .zero
        }
        return max(.zero, whole - awake)
    }

    private static func read(_ clock: clockid_t) -> Duration? {
        var time = timespec()
        guard clock_gettime(clock, &time) == 0 else { return nil }
        return .seconds(time.tv_sec) + .nanoseconds(time.tv_nsec)
    }
}
