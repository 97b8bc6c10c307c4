/// The progress of a client reset, for status and events.
public enum ResetStep: Equatable, Sendable {
    /// Downloading the fresh copy; the downloaded share from 0 to 1, if it is known.
    case downloading(Double?)
    case askingHandlers
    case replacing
    case tellingHandlers

    package var name: String {
        switch self {
        case .downloading: "downloading"
        case .askingHandlers: "asking-handlers"
        case .replacing: "replacing"
        case .tellingHandlers: "telling-handlers"
        }
    }

    /// The downloaded share of the fresh copy, from 0 to 1; nil if it is unknown, or in other steps.
    public var fraction: Double? {
        if case .downloading(let fraction) = self { fraction } else { nil }
    }

    /// For people.
    package var description: String {
        switch self {
        case .downloading(nil): "downloading the server's state"
        case .downloading(let fraction?):
            "downloading the server's state, \(Int(fraction * 100)) %"
        case .askingHandlers: "asking the handlers that come before it"
        case .replacing: "bringing the realm to the server's state"
        case .tellingHandlers: "telling the handlers that come after it"
        }
    }
}
