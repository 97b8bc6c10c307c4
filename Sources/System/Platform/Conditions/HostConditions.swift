import FoundationEssentials
package import Scheduling

/// What this machine knows of its network and its power.
///
/// Changes of the network are heard of at once; metering and batteries are looked at now and then.
/// Whether the network is poor only connections can tell: that is left as it is.
package struct HostConditions: Sendable {
    private let routes: String
    private let powerSupplies: String
    private let metering: MeteringWatch
    private let period: Duration

    /// Tests give other places, and another bus.
    package init(
        routes: String = "/proc/self/net",
        powerSupplies: String = "/sys/class/power_supply",
        busAddress: String? = nil,
        period: Duration = .seconds(30)
    ) {
        let manager = NetworkManagerStatus(busAddress: busAddress)
        self.init(
            routes: routes,
            powerSupplies: powerSupplies,
            metering: { manager.metering() },
            period: period
        )
    }

    /// `metering` may block for as long as it likes: it delays nothing but its own answer.
    init(
        routes: String,
        powerSupplies: String,
        metering: @escaping @Sendable () -> Conditions.Metering,
        period: Duration
    ) {
        self.routes = routes
        self.powerSupplies = powerSupplies
        self.metering = MeteringWatch(metering)
        self.period = period
    }

    private func current() -> Conditions {
        let version4 = Self.text("\(routes)/route")
        let table = RouteTable(
            version4: version4 ?? "",
            version6: Self.text("\(routes)/ipv6_route") ?? ""
        )
        return Conditions(
            interface: table.defaultInterface,
            // Where the tables cannot be read, nobody can tell that there is none.
            hasNetwork: version4 == nil || table.leavesMachine,
            metering: metering.latest,
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
            // A metered connection is not to be used before anybody knows that it is one; a bus that
            // hangs, on the other hand, keeps nobody from starting.
            await metering.ask(waitAtMost: Self.patience) { occasion.yield() }
            var last = current()
            await tell(last)
            for await _ in occasions {
                metering.ask { occasion.yield() }
                let now = current()
                guard now != last, !Task.isCancelled else { continue }
                last = now
                await tell(now)
            }
            group.cancelAll()
        }
    }

    private static let patience = Duration.seconds(1)

    private static func text(_ path: String) -> String? {
        try? String(contentsOfFile: path, encoding: .utf8)
    }
}
