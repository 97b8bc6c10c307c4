/// The kernel's measurements of a connection since its start (tcp(7), `TCP_INFO`).
///
/// Through a proxy they concern the connection to the proxy.
package struct SocketStatistics: Hashable, Sendable {
    /// Smoothed by the kernel.
    package var roundTrip: Duration
    /// Segments with data, retransmissions included.
    package var sentSegments: UInt64
    /// Retransmitted segments.
    package var resentSegments: UInt64
    /// All incoming segments, acknowledgements too: while it does not grow, nothing new was
    /// measured.
    package var receivedSegments: UInt64

    package init(
        roundTrip: Duration,
        sentSegments: UInt64,
        resentSegments: UInt64,
        receivedSegments: UInt64
    ) {
        self.roundTrip = roundTrip
        self.sentSegments = sentSegments
        self.resentSegments = resentSegments
        self.receivedSegments = receivedSegments
    }
}
