/// What the events of this run add up to.
package struct EventTotals: Sendable, Equatable {
    /// By realm and code.
    package private(set) var errors: [Pair: UInt64] = [:]
    /// By realm and side.
    package private(set) var rejects: [Pair: UInt64] = [:]
    /// By realm and stage.
    package private(set) var resets: [Pair: UInt64] = [:]
    /// By realm and plugin.
    package private(set) var pluginFailures: [Pair: UInt64] = [:]
    /// By realm and cause.
    package private(set) var pauses: [Pair: UInt64] = [:]
    /// Integrated, by realm.
    package private(set) var changesets: [String: UInt64] = [:]
    /// Acknowledged by the server, by realm.
    package private(set) var uploads: [String: UInt64] = [:]
    /// From the capture of local writes to their acknowledgement.
    package private(set) var acknowledgements: [String: Histogram] = [:]
    package private(set) var integrations: [String: Histogram] = [:]

    /// What is counted apart from others of its kind.
    package struct Pair: Sendable, Hashable {
        package let realm: String
        package let word: String
    }

    package init() {}

    package mutating func count(_ event: AgentEvent) {
        let realm = event.realm ?? ""
        switch event.fact {
        case .error(let fact): errors[Pair(realm: realm, word: fact.code), default: 0] += 1
        case .rejected(let fact):
            rejects[Pair(realm: realm, word: fact.by.rawValue), default: 0] += 1
        case .reset(let fact) where fact.stage != .progress:
            resets[Pair(realm: realm, word: fact.stage.rawValue), default: 0] += 1
        case .plugin(let fact) where fact.failure != nil:
            pluginFailures[Pair(realm: realm, word: fact.plugin), default: 0] += 1
        case .changed(let fact):
            changesets[realm, default: 0] += UInt64(max(0, fact.changesets))
            integrations[realm, default: Histogram()].record(seconds: fact.seconds)
        case .state(let fact) where fact.state == .paused || fact.state == .suspended:
            pauses[Pair(realm: realm, word: fact.cause ?? "unknown"), default: 0] += 1
        case .reset, .plugin, .state, .user, .reloaded, .gap:
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
