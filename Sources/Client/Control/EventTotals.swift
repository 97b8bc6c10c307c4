package import MetricsFormat

/// Totals of the events of this run.
package struct EventTotals: Sendable, Equatable {
    /// Errors by realm and code.
    package private(set) var errors: [Pair: UInt64] = [:]
    /// Rejected writes by realm and side.
    package private(set) var rejects: [Pair: UInt64] = [:]
    /// Client resets by realm and stage.
    package private(set) var resets: [Pair: UInt64] = [:]
    /// Plugin failures by realm and plugin.
    package private(set) var pluginFailures: [Pair: UInt64] = [:]
    /// Pauses by realm and cause.
    package private(set) var pauses: [Pair: UInt64] = [:]
    /// Integrated changesets by realm.
    package private(set) var changesets: [String: UInt64] = [:]
    /// Acknowledged changesets by realm.
    package private(set) var uploads: [String: UInt64] = [:]
    /// Time from the capture of local writes to their acknowledgement.
    package private(set) var acknowledgements: [String: Histogram] = [:]
    package private(set) var integrations: [String: Histogram] = [:]

    /// A pair of labels that is counted separately.
    package struct Pair: Sendable, Hashable {
        package let realm: String
        package let word: String
    }

    package init() {}

    package mutating func count(_ event: AgentEvent) {
        let realm = event.realm ?? ""
        switch event.payload {
        case .error(let payload): errors[Pair(realm: realm, word: payload.code), default: 0] += 1
        case .rejected(let payload):
            rejects[Pair(realm: realm, word: payload.by.rawValue), default: 0] += 1
        case .reset(let payload) where payload.stage != .progress:
            resets[Pair(realm: realm, word: payload.stage.rawValue), default: 0] += 1
        case .plugin(let payload) where payload.failure != nil:
            pluginFailures[Pair(realm: realm, word: payload.plugin), default: 0] += 1
        case .changed(let payload):
            changesets[realm, default: 0] += UInt64(max(0, payload.changesets))
            integrations[realm, default: Histogram()].record(seconds: payload.seconds)
        case .state(let payload) where payload.state == .paused || payload.state == .suspended:
            pauses[Pair(realm: realm, word: payload.cause ?? "unknown"), default: 0] += 1
        case .reset, .subscription, .plugin, .state, .user, .reloaded, .gap:
            break
        }
    }

    package mutating func countUploads(realm: String, changesets: Int) {
        uploads[realm, default: 0] += UInt64(max(0, changesets))
    }

    package mutating func countAcknowledgement(realm: String, seconds: Double) {
        acknowledgements[realm, default: Histogram()].record(seconds: seconds)
    }
}
