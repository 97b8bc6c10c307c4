/// The durations a client's connection goes by (wire protocol, 11).
package struct ConnectionTiming: Hashable, Sendable {
    package var pingPeriod: Duration
    /// From when a PING becomes due.
    package var pongTimeout: Duration
    /// How long a connection outlives its last session.
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
