import Scheduling

/// A user's or plugin's request to stop syncing a realm; survives restarts.
public struct Suspension: Equatable, Sendable {
    /// The user or plugin that suspended the realm.
    public enum Author: Equatable, Sendable {
        case user
        case plugin(name: String)
    }

    /// End of the suspension in milliseconds since 1970; nil until the realm is resumed.
    public var until: Int64?
    public var author: Author

    public init(until: Int64? = nil, author: Author = .user) {
        self.until = until
        self.author = author
    }

    func hasEnded(at now: Int64) -> Bool {
        until.map { $0 <= now } ?? false
    }

    var cause: RealmCause {
        switch author {
        case .user: .byUser
        case .plugin: .byPlugin
        }
    }

    /// Details that the cause does not state.
    var detail: String? {
        let end = until.map { "until \(WallTime(millisecondsSince1970: $0))" }
        switch author {
        case .user: return end
        case .plugin(let name): return [name, end].compactMap { $0 }.joined(separator: ", ")
        }
    }
}
