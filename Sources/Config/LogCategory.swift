/// A category of the agent's log: the complete list (`docs/logs.md`).
package enum LogCategory: String, CaseIterable, Sendable {
    /// The agent as a process: start, end, configuration, health.
    case agent = "Agent"
    case control = "Agent.Control"
    case lifecycle = "Agent.Lifecycle"
    case metrics = "Agent.Metrics"
    case plugins = "Agent.Plugins"
    case realm = "Agent.Realm"
    case schedule = "Agent.Schedule"
    case users = "Agent.Users"
    case changeset = "Sync.Client.Changeset"
    case network = "Sync.Client.Network"
    case reset = "Sync.Client.Reset"
    case session = "Sync.Client.Session"
    case storage = "Sync.Client.Storage"

    /// Every name that can have a level: the categories, and what groups them, such as `Sync.Client`.
    package static let names: [String] = {
        var names: Set<String> = []
        for category in allCases {
            var name = Substring(category.rawValue)
            while !name.isEmpty {
                names.insert(String(name))
                name = name.lastIndex(of: ".").map { name[..<$0] } ?? ""
            }
        }
        return names.sorted()
    }()
}
