import Scheduling

/// NetworkManager's report on the connection with the default route.
struct NetworkManagerStatus {
    /// Nil for the system bus.
    let busAddress: String?

    /// Whether traffic costs money; unknown if NetworkManager cannot be asked. Blocks until the bus
    /// responds.
    func metering() -> Conditions.Metering {
        do throws(SystemBusFailure) {
            return Conditions.Metering(
                networkManager: try MessageBus(address: busAddress).number(
                    MessageBus.Member(
                        destination: "org.freedesktop.NetworkManager",
                        path: "/org/freedesktop/NetworkManager",
                        interface: "org.freedesktop.NetworkManager",
                        name: "Metered"
                    )
                )
            )
        } catch {
            return .unknown
        }
    }
}

extension Conditions.Metering {
    /// The number of `NMMetered`.
    init(networkManager number: UInt32) {
        self =
            switch number {
            case 1: .yes
            case 2: .no
            case 3: .guessedYes
            case 4: .guessedNo
            default: .unknown
            }
    }
}
