package import Logging
package import ServerConfig
import ServerStore
import Synchronization

/// Finds the origin of a request behind proxies: only their additions to `X-Forwarded-For` are
/// trusted (`server.trusted_proxies`).
package final class TrustedProxies: Sendable {
    private let ranges: Mutex<[AddressRange]>
    private let logger: Logger
    private let hasWarned = Mutex(false)

    package init(_ ranges: [AddressRange] = [], logger: Logger) {
        self.ranges = Mutex(ranges)
        self.logger = logger
    }

    /// A reload replaces them.
    package var all: [AddressRange] {
        get { ranges.withLock { $0 } }
        set { ranges.withLock { $0 = newValue } }
    }

    /// Whether a connection may carry requests of many clients.
    func isProxy(_ peer: String?) -> Bool {
        guard let address = peer.flatMap({ IPAddress($0) }) else { return false }
        return all.contains { $0.contains(address) }
    }

    /// The key for limits of a request: the last hop that is not one of the proxies.
    ///
    /// - Parameters:
    ///   - peer: the other end of the connection.
    ///   - forwarded: every `X-Forwarded-For` header, in order; a client can forge all hops before
    ///     the last untrusted one.
    package func limitKey(of peer: String?, forwarded: [String]) -> String {
        guard let peer, let address = IPAddress(peer) else { return peer ?? "" }
        let trusted = all
        guard trusted.contains(where: { $0.contains(address) }) else {
            if address.isLoopback, !forwarded.isEmpty { warnOnce(peer) }
            return address.limitKey
        }
        var last = address
        for hop in forwarded.reversed().lazy.flatMap({ $0.split(separator: ",").reversed() }) {
            guard let next = Self.address(ofHop: hop) else { break }
            last = next
            guard trusted.contains(where: { $0.contains(next) }) else { break }
        }
        return last.limitKey
    }

    /// Some proxies write ports, and brackets around IPv6.
    private static func address(ofHop hop: Substring) -> IPAddress? {
        let text = String(hop).trimmed()
        if text.hasPrefix("[") { return IPAddress(text.dropFirst().prefix { $0 != "]" }) }
        return IPAddress(text) ?? IPAddress(text.prefix { $0 != ":" })
    }

    /// All clients behind such a proxy would share the limits of one address.
    private func warnOnce(_ peer: String) {
        let isFirst = hasWarned.withLock { hasWarned in
            defer { hasWarned = true }
            return !hasWarned
        }
        guard isFirst else { return }
        logger.warning(
            "a proxy is not trusted",
            metadata: [
                "address": "\(peer)",
                "remedy":
                    "add it to server.trusted_proxies, or every client behind it counts as one",
            ]
        )
    }
}
