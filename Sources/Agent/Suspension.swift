/// Somebody's wish that a realm stop syncing, across restarts of the agent.
struct Suspension: Equatable, Sendable {
    enum Author: Equatable, Sendable {
        case user
        case plugin(name: String)
    }

    /// Milliseconds since 1970; nil until somebody resumes it.
    var until: Int64?
    var author: Author = .user

    func isOver(at now: Int64) -> Bool {
        until.map { $0 <= now } ?? false
    }

    var cause: PauseCause {
        switch author {
        case .user: .byUser(until: until)
        case .plugin(let name): .byPlugin(name: name, until: until)
        }
    }
}
