/// The kernel's routing tables, from `/proc/net/route` and `/proc/net/ipv6_route`.
struct RouteTable {
    private let version4: [Route]
    private let version6: [Route]

    /// The texts of the two files; empty if one is missing.
    init(version4: String, version6: String) {
        self.version4 = Self.rows(of: version4).compactMap(Route.init(version4:))
        self.version6 = Self.rows(of: version6).compactMap(Route.init(version6:))
    }

    /// The interface of the default route with the smallest metric; IPv4 first, since nearly all
    /// backends use it.
    var defaultInterface: String? {
        for routes in [version4, version6] {
            let defaults = routes.filter(\.isDefault)
            if let best = defaults.min(by: { $0.metric < $1.metric }) { return best.interface }
        }
        return nil
    }

    /// Whether any route leads off this machine, if only to its neighbours.
    var leavesMachine: Bool {
        (version4 + version6).contains { $0.interface != "lo" && !$0.isOfLink }
    }

    private static func rows(of text: String) -> [[Substring]] {
        text.split(separator: "\n").map { $0.split { $0 == " " || $0 == "\t" } }
    }
}

/// A route that is up and does not reject traffic.
private struct Route {
    let interface: String
    let metric: UInt64
    let isDefault: Bool
    /// Every IPv6 interface has these automatically: its own addresses, and multicast.
    let isOfLink: Bool

    /// Columns: interface, destination, gateway, flags, reference count, use, metric, mask, …
    init?(version4 columns: [Substring]) {
        guard columns.count >= 8, let flags = UInt64(columns[3], radix: 16), Self.isUsable(flags),
            let metric = UInt64(columns[6])
        else { return nil }
        self.interface = String(columns[0])
        self.metric = metric
        self.isDefault = Self.isZero(columns[1]) && Self.isZero(columns[7])
        self.isOfLink = false
    }

    /// Columns: destination, its prefix, source, its prefix, next hop, metric, …, flags, interface.
    init?(version6 columns: [Substring]) {
        guard columns.count >= 10, let flags = UInt64(columns[8], radix: 16), Self.isUsable(flags),
            let metric = UInt64(columns[5], radix: 16)
        else { return nil }
        self.interface = String(columns[9])
        self.metric = metric
        self.isDefault = Self.isZero(columns[0]) && columns[1] == "00"
        self.isOfLink = columns[0].hasPrefix("fe80") || columns[0].hasPrefix("ff")
    }

    private static let up: UInt64 = 0x1
    private static let reject: UInt64 = 0x200

    private static func isZero(_ number: Substring) -> Bool {
        !number.isEmpty && number.allSatisfy { $0 == "0" }
    }

    /// The kernel lists a reject route where there is no route at all.
    private static func isUsable(_ flags: UInt64) -> Bool {
        flags & up != 0 && flags & reject == 0
    }
}
