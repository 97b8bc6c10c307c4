/// The timeouts of a connection (wire protocol, 11).
package struct ServerTiming: Sendable {
    package let clock: any Clock<Duration>
    /// The interval at which connections check deadlines.
    package var tick: Duration
    /// Ticks without a message after which the client counts as dead.
    package var ticksOfSilence: Int
    /// The longest wait for a client to close after it was told to.
    package var softClose: Duration
    /// Limit on the wait of uploads for a store that integrates nothing. Clients get no PONG meanwhile,
    /// so it must be shorter than their PONG timeout.
    package var storeTimeout: Duration

    package init(
        clock: any Clock<Duration> = ContinuousClock(),
        tick: Duration = .seconds(60),
        ticksOfSilence: Int = 15,
        softClose: Duration = .seconds(30),
        storeTimeout: Duration = .seconds(30)
    ) {
        self.clock = clock
        self.tick = tick
        self.ticksOfSilence = ticksOfSilence
        self.softClose = softClose
        self.storeTimeout = storeTimeout
    }
}
