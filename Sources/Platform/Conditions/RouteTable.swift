/// The kernel's routing tables, as `/proc/net/route` and `/proc/net/ipv6_route` show them.
struct RouteTable {
    let version4: String
    let version6: String

    /// The interface of the default route with the smallest metric; version 4 goes first, as nearly
    /// all backends do.
    var defaultInterface: String? {
        let routes = version4Routes + version6Routes
        return routes.min { $0.metric < $1.metric }?.interface
    }

    private struct Route {
        let interface: String
        let metric: UInt64
    }

    private static let up: UInt64 = 0x1
    private static let reject: UInt64 = 0x200

    /// Columns: interface, destination, gateway, flags, reference count, use, metric, mask, …
    private var version4Routes: [Route] {
        Self.rows(of: version4).compactMap { columns in
            guard columns.count >= 8, Self.isZero(columns[1]), Self.isZero(columns[7]),
                let flags = UInt64(columns[3], radix: 16), Self.isUsable(flags),
                let metric = UInt64(columns[6])
            else { return nil }
            return Route(interface: String(columns[0]), metric: metric)
        }
    }

    /// Columns: destination, its prefix, source, its prefix, next hop, metric, …, flags, interface.
    private var version6Routes: [Route] {
        Self.rows(of: version6).compactMap { columns in
            guard columns.count >= 10, Self.isZero(columns[0]), columns[1] == "00",
                let flags = UInt64(columns[8], radix: 16), Self.isUsable(flags),
                let metric = UInt64(columns[5], radix: 16)
            else { return nil }
            // Behind every route of version 4.
            return Route(interface: String(columns[9]), metric: metric + 1 << 32)
        }
    }

    private static func rows(of text: String) -> [[Substring]] {
        text.split(separator: "\n").map { $0.split { $0 == " " || $0 == "\t" } }
    }

    private static func isZero(_ number: Substring) -> Bool {
        !number.isEmpty && number.allSatisfy { $0 == "0" }
    }

    /// The kernel lists a route that refuses everything where there is none at all.
    private static func isUsable(_ flags: UInt64) -> Bool {
        flags & up != 0 && flags & reject == 0
    }
}
