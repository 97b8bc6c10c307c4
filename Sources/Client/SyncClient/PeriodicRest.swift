import LocalRealm

/// Lets the file of a realm rest while nothing uses it; such a realm wakes no thread.
struct PeriodicRest: Sendable {
    let store: RealmStore

    /// Between looks for use; some in a row must find none.
    private static let interval = Duration.seconds(4)
    private static let intervalAmongMany = Duration.milliseconds(150)

    /// Looks at the file now and then.
    var duty: Duty {
        Duty(on: store.hasWoken, after: Self.intervalAmongMany, isDueAtOnce: true) { [store] _ in
            if await store.restIfSilent() { return .onSignal }
            return .within(OpenConnections.areMany ? Self.intervalAmongMany : Self.interval)
        }
    }
}
