/// The conditions that count as bad, for all realms alike.
package struct NetworkPolicy: Hashable, Sendable {
    /// Interfaces that sync never uses.
    package var deniedInterfaces: [NamePattern]
    /// Whether a connection counts as metered if NetworkManager only guesses so.
    package var guessesMetering: Bool
    /// A discharging battery below this fraction of its charge is low.
    package var lowBattery: Double
    package var poor: PoorNetwork

    package init(
        deniedInterfaces: [NamePattern] = [],
        guessesMetering: Bool = false,
        lowBattery: Double = 0.2,
        poor: PoorNetwork = PoorNetwork()
    ) {
        self.deniedInterfaces = deniedInterfaces
        self.guessesMetering = guessesMetering
        self.lowBattery = lowBattery
        self.poor = poor
    }

    func isDenied(_ conditions: Conditions) -> Bool {
        guard let interface = conditions.interface else { return false }
        return deniedInterfaces.contains { $0.matches(interface) }
    }

    func isMetered(_ conditions: Conditions) -> Bool {
        switch conditions.metering {
        case .yes: true
        case .guessedYes: guessesMetering
        case .unknown, .no, .guessedNo: false
        }
    }

    func isBatteryLow(_ conditions: Conditions) -> Bool {
        conditions.battery.map { $0.isDischarging && $0.charge < lowBattery } ?? false
    }
}

/// When a network counts as poor, and for how long (interfaces, 4).
package struct PoorNetwork: Hashable, Sendable {
    package var roundTripAbove: Duration
    /// A fraction of the segments sent, from 0 to 1.
    package var lossAbove: Double
    package var failures: Int
    package var failuresWithin: Duration
    /// The time of good readings after which the network counts as good again.
    package var recoverAfter: Duration
    /// The interval of probes without a connection.
    package var probeEvery: Duration

    package init(
        roundTripAbove: Duration = .seconds(1),
        lossAbove: Double = 0.1,
        failures: Int = 3,
        failuresWithin: Duration = .seconds(300),
        recoverAfter: Duration = .seconds(60),
        probeEvery: Duration = .seconds(300)
    ) {
        self.roundTripAbove = roundTripAbove
        self.lossAbove = lossAbove
        self.failures = failures
        self.failuresWithin = failuresWithin
        self.recoverAfter = recoverAfter
        self.probeEvery = probeEvery
    }
}

/// A name pattern in which `*` matches any characters and `?` one: `wwan*`.
package struct NamePattern: Hashable, Sendable {
    package let text: String

    package init(_ text: String) {
        self.text = text
    }

    package func matches(_ name: String) -> Bool {
        Self.matches(Array(name.utf8)[...], Array(text.utf8)[...])
    }

    private static func matches(_ name: ArraySlice<UInt8>, _ pattern: ArraySlice<UInt8>) -> Bool {
        var (name, pattern) = (name, pattern)
        // Where to continue if the part after the last `*` does not match here.
        var retry: (name: ArraySlice<UInt8>, pattern: ArraySlice<UInt8>)?
        while true {
            if pattern.first == UInt8(ascii: "*") {
                pattern = pattern.dropFirst()
                retry = (name, pattern)
            } else if let first = name.first,
                pattern.first == UInt8(ascii: "?") || pattern.first == first
            {
                (name, pattern) = (name.dropFirst(), pattern.dropFirst())
            } else if name.isEmpty && pattern.isEmpty {
                return true
            } else if let last = retry, !last.name.isEmpty {
                retry = (last.name.dropFirst(), last.pattern)
                (name, pattern) = (last.name.dropFirst(), last.pattern)
            } else {
                return false
            }
        }
    }
}
