/// The host's network and power conditions, where known.
package struct Conditions: Hashable, Sendable {
    /// The interface of the default route; nil if there is none or it is unknown.
    package var interface: String?
    /// Whether any network but the machine's own can be reached; true if unknown.
    package var hasNetwork: Bool
    package var metering: Metering
    package var battery: Battery?
    /// As judged by `NetworkQuality`.
    package var isNetworkPoor: Bool

    package init(
        interface: String? = nil,
        hasNetwork: Bool = true,
        metering: Metering = .unknown,
        battery: Battery? = nil,
        isNetworkPoor: Bool = false
    ) {
        self.interface = interface
        self.hasNetwork = hasNetwork
        self.metering = metering
        self.battery = battery
        self.isNetworkPoor = isNetworkPoor
    }

    /// Whether traffic costs money, in the words of NetworkManager.
    package enum Metering: String, Hashable, Sendable {
        case unknown, yes, no
        case guessedYes = "guess-yes"
        case guessedNo = "guess-no"
    }

    package struct Battery: Hashable, Sendable {
        /// From 0 to 1.
        package var charge: Double
        package var isDischarging: Bool

        package init(charge: Double, isDischarging: Bool) {
            self.charge = charge
            self.isDischarging = isDischarging
        }
    }
}
