import Coordination
import Synchronization

/// Raises a signal at a moment that is set again and again, mostly to what it was.
///
/// A timer for each wait would run until its end, also when the wait has long ended: with a PING due in a minute, one
/// more for each message.
final class Alarm: Sendable {
    private struct Moments {
        var wanted: Duration?
        /// When the timer that runs now ends.
        var armed: Duration?
    }

    private let time: SyncTime
    private let moments = Mutex(Moments())
    private let hasChanged = Signal()

    init(_ time: SyncTime) {
        self.time = time
    }

    /// Sets the moment, or none.
    func set(_ moment: Duration?) {
        let hasChanged = moments.withLock { moments in
            moments.wanted = moment
            return moment != moments.armed
        }
        if hasChanged { self.hasChanged.raise() }
    }

    /// Raises the signal once at each moment, until the task is cancelled. One task may do so at a time.
    func raise(_ signal: Signal) async {
        while !Task.isCancelled {
            guard let moment = arm() else {
                await hasChanged.wait()
                continue
            }
            let rest = moment - time.uptime()
            if rest > .zero {
                _ = await hasChanged.wait(atMost: rest, time)
            } else {
                forget(moment)
                signal.raise()
            }
        }
    }

    private func arm() -> Duration? {
        moments.withLock { moments in
            moments.armed = moments.wanted
            return moments.armed
        }
    }

    private func forget(_ moment: Duration) {
        moments.withLock { moments in
            if moments.wanted == moment { moments.wanted = nil }
        }
    }
}
