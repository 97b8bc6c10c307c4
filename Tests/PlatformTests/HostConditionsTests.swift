import Dispatch
import FoundationEssentials
import Scheduling
import Synchronization
import TestSupport
import Testing

@testable import Platform

@Suite("Conditions of the host", .timeLimit(.minutes(10)))
struct HostConditionsTests {
    let temporary: TemporaryDirectory

    init() throws {
        self.temporary = try TemporaryDirectory()
    }

    // MARK: Routes

    private static let header4 =
        "Iface\tDestination\tGateway \tFlags\tRefCnt\tUse\tMetric\tMask\t\tMTU\tWindow\tIRTT\n"

    private static func route4(
        _ interface: String,
        to destination: String = "00000000",
        metric: Int,
        flags: String = "0003"
    ) -> String {
        let mask = destination == "00000000" ? "00000000" : "00FFFFFF"
        return
            "\(interface)\t\(destination)\t0100A8C0\t\(flags)\t0\t0\t\(metric)\t\(mask)\t0\t0\t0\n"
    }

    private static func route6(_ interface: String, metric: String, flags: String) -> String {
        let zeros = String(repeating: "0", count: 32)
        return
            "\(zeros) 00 \(zeros) 00 fe800000000000000000000000000001 \(metric) 00000001 00000000 \(flags)     \(interface)\n"
    }

    @Test("The default route of the smallest metric counts")
    func defaultRoute() {
        let text =
            Self.header4 + Self.route4("wlan0", metric: 600) + Self.route4("eth0", metric: 100)
            + Self.route4("br0", to: "0000A8C0", metric: 1)
        #expect(RouteTable(version4: text, version6: "").defaultInterface == "eth0")
    }

    @Test("Without a default route there is no interface; a reject route does not count")
    func noRoute() {
        let text = Self.header4 + Self.route4("br0", to: "0000A8C0", metric: 1)
        let refusing = Self.route6("lo", metric: "ffffffff", flags: "00200200")
        #expect(RouteTable(version4: text, version6: refusing).defaultInterface == nil)
        #expect(RouteTable(version4: "", version6: "").defaultInterface == nil)
        #expect(RouteTable(version4: "one\ntwo three\n", version6: "x").defaultInterface == nil)
    }

    @Test("IPv6 counts without IPv4")
    func version6() {
        let version6 = Self.route6("wwan0", metric: "00000400", flags: "00450003")
        #expect(
            RouteTable(version4: Self.header4, version6: version6).defaultInterface == "wwan0"
        )
        let version4 = Self.header4 + Self.route4("eth0", metric: 20_000)
        #expect(
            RouteTable(version4: version4, version6: version6).defaultInterface == "eth0"
        )
    }

    @Test("A network exists if some route leaves the machine, if only to neighbours")
    func network() {
        let loopback = Self.header4 + Self.route4("lo", to: "0000007F", metric: 0)
        #expect(!RouteTable(version4: loopback, version6: "").leavesMachine)
        let neighbours = Self.header4 + Self.route4("eth0", to: "0000A8C0", metric: 1)
        #expect(RouteTable(version4: neighbours, version6: "").leavesMachine)
        let down = Self.header4 + Self.route4("eth0", metric: 1, flags: "0002")
        #expect(!RouteTable(version4: down, version6: "").leavesMachine)
        let rest = String(repeating: "0", count: 28)
        let zeros = String(repeating: "0", count: 32)
        func version6(_ destination: String, on interface: String) -> String {
            "\(destination)\(rest) 40 \(zeros) 00 \(zeros) 00000100 1 0 00000001 \(interface)\n"
        }
        let own = version6("fe80", on: "eth0") + version6("ff00", on: "eth0")
        #expect(!RouteTable(version4: "", version6: own).leavesMachine)
        #expect(!RouteTable(version4: "", version6: version6("fd00", on: "lo")).leavesMachine)
        #expect(RouteTable(version4: "", version6: version6("fd00", on: "eth0")).leavesMachine)
    }

    // MARK: Batteries

    private func supply(_ name: String, _ attributes: [String: String]) throws {
        let directory = temporary.file("power/\(name)")
        try FileManager.default.createDirectory(
            atPath: directory,
            withIntermediateDirectories: true
        )
        for (attribute, value) in attributes {
            try "\(value)\n".write(
                toFile: "\(directory)/\(attribute)",
                atomically: false,
                encoding: .utf8
            )
        }
    }

    private var battery: Conditions.Battery? {
        PowerSupplies(directory: temporary.file("power")).battery
    }

    @Test("A machine on the mains has no battery, even if its mouse has one")
    func noBattery() throws {
        #expect(battery == nil)
        try supply("AC", ["type": "Mains", "online": "1"])
        try supply("hidpp", ["type": "Battery", "scope": "Device", "capacity": "5"])
        try supply("BAT1", ["type": "Battery", "present": "0"])
        #expect(battery == nil)
    }

    @Test("Two batteries count as one of the mean charge, and discharge if one does")
    func batteries() throws {
        try supply("BAT0", ["type": "Battery", "capacity": "10", "status": "Discharging"])
        #expect(battery == Conditions.Battery(charge: 0.1, isDischarging: true))
        try supply(
            "BAT1",
            ["type": "Battery", "energy_now": "450", "energy_full": "500", "status": "Full"]
        )
        #expect(battery == Conditions.Battery(charge: 0.5, isDischarging: true))
        try supply("BAT0", ["status": "Charging"])
        #expect(battery == Conditions.Battery(charge: 0.5, isDischarging: false))
    }

    // MARK: Metering

    @Test("Without a bus the metering is unknown")
    func noBus() {
        let status = NetworkManagerStatus(busAddress: "unix:path=\(temporary.file("bus"))")
        #expect(status.metering() == .unknown)
    }

    @Test(
        "NetworkManager's numbers",
        arguments: zip(
            [0, 1, 2, 3, 4, 9] as [UInt32],
            [.unknown, .yes, .no, .guessedYes, .guessedNo, .unknown] as [Conditions.Metering]
        )
    )
    func metering(_ number: UInt32, _ metering: Conditions.Metering) {
        #expect(Conditions.Metering(networkManager: number) == metering)
    }

    // MARK: All together

    @Test("Conditions are reported at once, and again after changes")
    func following() async throws {
        let routes = temporary.file("net")
        try FileManager.default.createDirectory(
            atPath: routes,
            withIntermediateDirectories: true
        )
        func write(_ interface: String) throws {
            try (Self.header4 + Self.route4(interface, metric: 0)).write(
                toFile: "\(routes)/route",
                atomically: true,
                encoding: .utf8
            )
        }
        try write("eth0")
        let host = HostConditions(
            routes: routes,
            powerSupplies: temporary.file("power"),
            busAddress: "unix:path=\(temporary.file("bus"))",
            period: .milliseconds(5)
        )
        let (told, continuation) = AsyncStream.makeStream(of: Conditions.self)
        let task = Task { await host.follow { continuation.yield($0) } }
        var interfaces: [String?] = []
        for await conditions in told {
            interfaces.append(conditions.interface)
            if interfaces.count == 1 { try write("wlan0") }
            if interfaces.count == 2 { try write("usb0") }
            if interfaces.count == 3 { break }
        }
        task.cancel()
        await task.value
        #expect(interfaces == ["eth0", "wlan0", "usb0"])
    }

    @Test(
        "A bus that hangs delays nothing; its result counts when it arrives",
        .timeLimit(.minutes(10))
    )
    func hangingBus() async throws {
        let release = DispatchSemaphore(value: 0)
        let host = HostConditions(
            routes: temporary.file("net"),
            powerSupplies: temporary.file("power"),
            metering: {
                // Without a limit: the test ends only if nothing waits for it.
                release.wait()
                release.signal()
                return .yes
            },
            period: .milliseconds(5)
        )
        let (told, continuation) = AsyncStream.makeStream(of: Conditions.self)
        let task = Task { await host.follow { continuation.yield($0) } }
        var answers: [Conditions.Metering] = []
        for await conditions in told {
            answers.append(conditions.metering)
            if answers.count == 1 { release.signal() }
            if answers.count == 2 { break }
        }
        #expect(answers == [.unknown, .yes])
        task.cancel()
        await task.value
    }

    @Test("The kernel's own tables can be read, and its notifications received")
    func kernel() async throws {
        // The content depends on the machine; that it can be read does not.
        let told = Mutex(false)
        let following = Task { await HostConditions().follow { _ in told.withLock { $0 = true } } }
        try await until { told.withLock({ $0 }) }
        following.cancel()
        await following.value
        let changes = try NetworkEvents.changes()
        let task = Task { for await _ in changes {} }
        task.cancel()
        await task.value
    }
}
