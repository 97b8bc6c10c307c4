import Scheduling

/// A user's or plugin's request to stop syncing a realm; survives restarts.
public struct Suspension: Equatable, Sendable {
    public enum Author: Equatable, Sendable {
        case user
        case plugin(name: String)
    }

    /// Milliseconds since 1970; nil until someone resumes the realm.
    public var until: Int64?
    public var author: Author

    public init(until: Int64? = nil, author: Author = .user) {
        self.until = until
        self.author = author
    }

    func isOver(at now: Int64) -> Bool {
        until.map { $0 <= now } ?? false
    }

    var cause: RealmCause {
        switch author {
        case .user: .byUser
        case .plugin: .byPlugin
        }
    }

    /// What the cause leaves open.
    var detail: String? {
        let end = until.map { "until \(WallTime(millisecondsSince1970: $0))" }
        switch author {
        case .user: return end
        case .plugin(let name): return [name, end].compactMap { $0 }.joined(separator: ", ")
        }
    }
}
