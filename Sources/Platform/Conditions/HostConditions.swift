import FoundationEssentials
package import Scheduling

/// What this machine knows of its network and its power.
///
/// Changes of the network are heard of at once; metering and batteries are looked at now and then.
/// Whether the network is poor only connections can tell: that is left as it is.
package struct HostConditions: Sendable {
    private let routes: String
    private let powerSupplies: String
    private let busAddress: String?
    private let period: Duration

    /// Tests give other places, and another bus.
    package init(
        routes: String = "/proc/self/net",
        powerSupplies: String = "/sys/class/power_supply",
        busAddress: String? = nil,
        period: Duration = .seconds(30)
    ) {
        self.routes = routes
        self.powerSupplies = powerSupplies
        self.busAddress = busAddress
        self.period = period
    }

    package func current() async -> Conditions {
        let table = RouteTable(
            version4: Self.text("\(routes)/route"),
            version6: Self.text("\(routes)/ipv6_route")
        )
        return Conditions(
            interface: table.defaultInterface,
            metering: await NetworkManagerStatus(busAddress: busAddress).metering(),
            battery: PowerSupplies(directory: powerSupplies).battery
        )
    }

    /// Tells the conditions as they are, and again whenever they have changed, until the task is
    /// cancelled.
    package func follow(_ tell: (Conditions) async -> Void) async {
        let (occasions, occasion) = AsyncStream.makeStream(
            of: Void.self,
            bufferingPolicy: .bufferingNewest(1)
        )
        await withTaskGroup(of: Void.self) { group in
            group.addTask { [period] in
                while (try? await Task.sleep(for: period)) != nil { occasion.yield() }
            }
            // Without the kernel's news, the period has to do.
            if let events = try? NetworkEvents.changes() {
                group.addTask { for await _ in events { occasion.yield() } }
            }
            var last = await current()
            await tell(last)
            for await _ in occasions {
                let now = await current()
                guard now != last, !Task.isCancelled else { continue }
                last = now
                await tell(now)
            }
            group.cancelAll()
        }
    }

    private static func text(_ path: String) -> String {
        (try? String(contentsOfFile: path, encoding: .utf8)) ?? ""
    }
}
