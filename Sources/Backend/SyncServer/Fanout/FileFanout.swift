import Changesets
import DequeModule
import Query
import Versions

/// The views of a file's sessions in this process: finds those that a change concerns (flexible sync,
/// 13.4). The others need not look at the history at all.
struct FileFanout {
    private var index = PredicateIndex<FileIdent>()
    private var sessions: [FileIdent: Session] = [:]
    /// The version up to which all changes were compared with all views.
    private(set) var examined: ServerVersion
    /// Each session once, with the version at which it was looked at, oldest first.
    private var untold: Deque<(client: FileIdent, since: ServerVersion)> = []

    private struct Session {
        var classes: Set<Text>
        /// The first and the last version that concern the session and that it has not scanned.
        var hits: (first: ServerVersion, last: ServerVersion)?
        /// The version up to which it was last told to look.
        var told: ServerVersion
    }

    /// Versions that do not concern a session, after which it is told nevertheless, after twice as many at
    /// the latest: its client's cursor lets history be trimmed.
    static let versionsUntold: UInt64 = 1000

    /// - Parameter position: where the first session begins.
    init(from position: ServerVersion) {
        self.examined = position
    }

    var isEmpty: Bool { sessions.isEmpty }

    /// Adds a session that has scanned up to a position, or gives it another view. Returns true if
    /// there may be more for it already.
    mutating func attach(
        _ client: FileIdent,
        _ view: ClientView,
        at position: ServerVersion
    ) -> Bool {
        let old = sessions[client]?.classes ?? []
        let queries = view.queries
        for name in old.subtracting(queries.map(\.className)) { index.remove(client, from: name) }
        for query in queries { index.insert(query, of: client) }
        if sessions[client] == nil { untold.append((client, position)) }
        // What was examined was not compared with this view.
        let isBehind = position < examined
        sessions[client] = Session(
            classes: Set(queries.map(\.className)),
            hits: isBehind ? (position.next, examined) : nil,
            told: position
        )
        return isBehind
    }

    mutating func detach(_ client: FileIdent) {
        for name in sessions[client]?.classes ?? [] { index.remove(client, from: name) }
        sessions[client] = nil
    }

    /// The position from which a session must scan that has scanned up to another one.
    func start(of client: FileIdent, from position: ServerVersion) -> ServerVersion {
        guard let session = sessions[client] else { return position }
        guard let hits = session.hits else { return max(position, examined) }
        return max(position, hits.first.previous)
    }

    /// The session has scanned up to a version.
    mutating func scanned(_ client: FileIdent, upTo version: ServerVersion) {
        guard let hits = sessions[client]?.hits else { return }
        sessions[client]?.hits =
            hits.last <= version ? nil : (max(hits.first, version.next), hits.last)
    }

    /// Compares growth with the views; returns the sessions to tell, by their idents.
    mutating func note(_ growth: FileGrowth) -> [FileIdent] {
        guard growth.end > examined else { return [] }
        let start = examined
        examined = growth.end
        var concerned: Set<FileIdent> = []
        switch growth.content {
        case .anything: concerned = Set(sessions.keys)
        case .changes(let changes):
            concerned = changes.authors.filter { sessions[$0] != nil }
            for change in changes.objects {
                for view in index.candidates(for: change.images, of: change.className)
                where !view.sessions.isSubset(of: concerned)
                    && change.images.contains(where: view.evaluator.matches)
                {
                    concerned.formUnion(view.sessions)
                }
            }
        }
        for client in concerned {
            let first = sessions[client]?.hits?.first ?? start.next
            sessions[client]?.hits = (first, growth.end)
            sessions[client]?.told = growth.end
        }
        return (concerned.sorted { $0.rawValue < $1.rawValue }) + takeUntold()
    }

    /// Those whose clients have heard nothing for long.
    private mutating func takeUntold() -> [FileIdent] {
        var clients: [FileIdent] = []
        while let oldest = untold.first,
            examined.rawValue &- oldest.since.rawValue >= Self.versionsUntold
        {
            untold.removeFirst()
            guard let told = sessions[oldest.client]?.told else { continue }
            let isLong = examined.rawValue &- told.rawValue >= Self.versionsUntold
            if isLong {
                clients.append(oldest.client)
                sessions[oldest.client]?.told = examined
            }
            untold.append((oldest.client, examined))
        }
        return clients
    }
}

extension ServerVersion {
    fileprivate var next: ServerVersion { ServerVersion(rawValue &+ 1) }
    fileprivate var previous: ServerVersion { ServerVersion(rawValue &- 1) }
}
