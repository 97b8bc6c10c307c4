import Platform

extension PauseCause {
    /// The word of status and events (interfaces, 5).
    package var word: String {
        switch self {
        case .scheduleWindow: "schedule-window"
        case .refreshInterval: "refresh-interval"
        case .manualMode: "manual-mode"
        case .poorNetwork: "poor-network"
        case .metered: "metered"
        case .lowBattery: "low-battery"
        case .deniedInterface: "denied-interface"
        case .noNetwork: "no-network"
        case .byUser: "by-user"
        case .byPlugin: "by-plugin"
        }
    }

    /// What the word leaves open.
    package var detail: String? {
        switch self {
        case .byUser(let until): until.map { "until \(Self.time($0))" }
        case .byPlugin(let name, let until):
            until.map { "\(name), until \(Self.time($0))" } ?? name
        case .scheduleWindow, .refreshInterval, .manualMode, .poorNetwork, .metered, .lowBattery,
            .deniedInterface, .noNetwork:
            nil
        }
    }

    private static func time(_ milliseconds: Int64) -> String {
        WallTime(millisecondsSince1970: milliseconds).description
    }
}
