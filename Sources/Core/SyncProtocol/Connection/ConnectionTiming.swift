/// The durations of a client's connection (wire protocol, 11).
package struct ConnectionTiming: Hashable, Sendable {
    package var pingPeriod: Duration
    /// The time after which a PING is due.
    package var pongTimeout: Duration
    /// The time for which a connection stays open after its last session.
    package var linger: Duration
    /// A connection that comes back sooner lets its sessions upload at once.
    package var fastReconnectLimit: Duration

    package init(
        pingPeriod: Duration = .seconds(60),
        pongTimeout: Duration = .seconds(120),
        linger: Duration = .seconds(30),
        fastReconnectLimit: Duration = .seconds(60)
    ) {
        self.pingPeriod = pingPeriod
        self.pongTimeout = pongTimeout
        self.linger = linger
        self.fastReconnectLimit = fastReconnectLimit
    }
}
