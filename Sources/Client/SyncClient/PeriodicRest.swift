import Coordination

/// Lets the file of a realm rest while nothing uses it; a resting realm has no timer.
struct PeriodicRest: Sendable {
    let store: RealmStore
    let time: SyncTime

    /// Of the looks for use; some in a row must find none.
    private static let interval = Duration.seconds(4)

    /// Looks at the file now and then until the task is cancelled.
    func run() async {
        while (try? await time.sleep(Self.interval)) != nil {
            guard await store.restIfSilent() else { continue }
            await store.hasWoken.wait()
        }
    }
}
