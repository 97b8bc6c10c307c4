/// What the host knows of its network and its power, as far as it knows anything.
package struct Conditions: Hashable, Sendable {
    /// The interface of the default route; nil where there is none or nobody can tell.
    package var interface: String?
    /// Whether any network but the machine's own can be reached; where nobody can tell it counts as so.
    package var hasNetwork: Bool
    package var metering: Metering
    package var battery: Battery?
    /// As `NetworkQuality` judges it.
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
