import Scheduling

/// What NetworkManager knows of the connection that carries the default route.
struct NetworkManagerStatus {
    /// Nil for the system bus.
    let busAddress: String?

    /// Whether traffic costs money; unknown where nobody can be asked. Blocks until the bus answers.
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
