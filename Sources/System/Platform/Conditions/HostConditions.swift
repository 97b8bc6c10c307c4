package import Scheduling

/// The network and power conditions of this machine.
///
/// Network changes are reported at once; metering and batteries are polled. Only connections can
/// tell whether the network is poor, so that part is left as it is.
package struct HostConditions: Sendable {
    private let routes: String
    private let powerSupplies: String
    private let metering: MeteringWatch
    private let period: Duration

    /// Tests pass other paths, and another bus.
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

    /// `metering` may block for any time: it delays only its own result.
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
        let version4 = KernelFile.text(at: "\(routes)/route")
        let table = RouteTable(
            version4: version4 ?? "",
            version6: KernelFile.text(at: "\(routes)/ipv6_route") ?? ""
        )
        return Conditions(
            interface: table.defaultInterface,
            // If the tables cannot be read, an absent network cannot be detected.
            hasNetwork: version4 == nil || table.leavesMachine,
            metering: metering.latest,
            battery: PowerSupplies(directory: powerSupplies).battery
        )
    }

    /// Reports the current conditions, and again after each change, until the task is cancelled.
    package func follow(_ tell: (Conditions) async -> Void) async {
        let (occasions, occasion) = AsyncStream.makeStream(
            of: Void.self,
            bufferingPolicy: .bufferingNewest(1)
        )
        await withTaskGroup(of: Void.self) { group in
            group.addTask { [period] in
                while (try? await Task.sleep(for: period)) != nil { occasion.yield() }
            }
            // Without kernel notifications, polling has to do.
            if let events = try? NetworkEvents.changes() {
                group.addTask { for await _ in events { occasion.yield() } }
            }
            // A metered connection must not be used before it is known to be metered; a bus that
            // hangs must not block the start.
            await metering.ask(waitAtMost: Self.meteringTimeout) { occasion.yield() }
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

    private static let meteringTimeout = Duration.seconds(1)
}
