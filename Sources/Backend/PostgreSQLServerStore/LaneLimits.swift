/// The size of a pool of lanes.
package struct LaneLimits: Hashable, Sendable {
    /// The largest number of lanes, each with a connection.
    package var lanes: Int
    /// Jobs that may wait for a lane.
    package var waiting: Int
    /// The time without new lanes after the server had too many connections.
    package var shrinkTime: Duration

    package init(lanes: Int = 8, waiting: Int = 256, shrinkTime: Duration = .seconds(30)) {
        self.lanes = lanes
        self.waiting = waiting
        self.shrinkTime = shrinkTime
    }
}
