import Coordination

/// Lets the file of a realm rest while nothing uses it; such a realm wakes no thread.
struct PeriodicRest: Sendable {
    let store: RealmStore
    let time: SyncTime

    /// Of the looks for use; some in a row must find none.
    private static let interval = Duration.seconds(4)

    /// A limit all the same, so that each realm always has one timer here: timers that pile up are an error.
    private static let longestSilence = Duration.seconds(86_400)

    /// Looks at the file now and then until the task is cancelled.
    func run() async {
        while (try? await time.sleep(Self.interval)) != nil {
            guard await store.restIfSilent() else { continue }
            _ = await store.hasWoken.wait(atMost: Self.longestSilence, time)
        }
    }
}
