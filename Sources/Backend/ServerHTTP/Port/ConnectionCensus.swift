import NIOCore
package import ServerConfig
package import ServerMetrics
import ServerStore
import Synchronization

/// Counts the open connections in total, by address and by user, and admits no more than the limits
/// allow.
package final class ConnectionCensus: Sendable {
    /// A count that a connection belongs to.
    enum Place: Hashable {
        /// The total; every connection counts here.
        case any
        case address(String)
        case user(AppID, UserID)
    }

    private let limits: ServerLimits
    /// At most the number that the process has file descriptors for.
    private let connections: Int
    private let taken = Mutex<[Place: Int]>([:])
    private let meter: ServerMeter

    package init(
        _ limits: ServerLimits = ServerLimits(),
        meter: ServerMeter = ServerMeter()
    ) {
        self.meter = meter
        self.limits = limits
        self.connections = Descriptors.available(forConnections: limits.connections)
    }

    /// Beyond it connections are not accepted: they wait in the kernel, where they use no
    /// descriptor.
    var acceptable: Int { connections + Descriptors.reserve / 2 }

    /// Positive if the configuration allows more connections than the process has descriptors for.
    package var connectionsWithoutDescriptor: Int { limits.connections - connections }

    /// Counts a connection in these places until it is closed: in all, or in none and returns
    /// false.
    func admit(_ places: [Place], until channel: any Channel) -> Bool {
        let full = taken.withLock { taken in
            let full = places.first { taken[$0, default: 0] >= limit(of: $0) }
            guard full == nil else { return full }
            for place in places { taken[place, default: 0] += 1 }
            return nil
        }
        if let full {
            meter.note(.reached(full == .any ? .connections : .connectionsOfOne))
            return false
        }
        channel.closeFuture.whenComplete { _ in
            self.taken.withLock { taken in
                for place in places {
                    let count = taken[place, default: 0] - 1
                    taken[place] = count > 0 ? count : nil
                }
            }
        }
        return true
    }

    func count(_ place: Place) -> Int {
        taken.withLock { $0[place] ?? 0 }
    }

    private func limit(of place: Place) -> Int {
        switch place {
        case .any: connections
        case .address: limits.connectionsPerAddress
        case .user: limits.connectionsPerUser
        }
    }
}
