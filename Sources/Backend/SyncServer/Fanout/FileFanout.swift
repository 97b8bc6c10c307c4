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
    /// Each session once, with the version at which it was looked at, oldest first; and those that left.
    private var untold: Deque<Watch> = []
    private var watches: UInt64 = 0

    private struct Watch {
        let client: FileIdent
        /// A client that left and came back has another one.
        let number: UInt64
        let since: ServerVersion
    }

    private struct Session {
        let epoch: UInt64
        var classes: Set<Text>
        /// The first and the last version that concern the session and that it has not scanned.
        var hits: (first: ServerVersion, last: ServerVersion)?
        /// The version up to which it was last told to look.
        var told: ServerVersion
        /// Of its `Watch`.
        let watch: UInt64
    }

    /// Versions that do not concern a session, after which it is told nevertheless, after twice as many at
    /// the latest: its client's cursor lets history be trimmed. With many sessions after more, so that a
    /// write tells less than one of them for this reason.
    private var versionsUntold: UInt64 {
        let wanted = 16 * UInt64(sessions.count)
        return min(Self.untoldLimits.upperBound, max(Self.untoldLimits.lowerBound, wanted))
    }

    static let untoldLimits: ClosedRange<UInt64> = 1_000...100_000

    /// - Parameter position: where the first session begins.
    init(from position: ServerVersion) {
        self.examined = position
    }

    var isEmpty: Bool { sessions.isEmpty }

    /// Adds a session that has scanned up to a position, or gives it another view. Returns true if
    /// there may be more for it already. A session that another one has taken over from stays out.
    mutating func attach(
        _ session: ViewSession,
        _ view: ClientView,
        at position: ServerVersion
    ) -> Bool {
        let client = session.ident
        let known = sessions[client]
        if let known, known.epoch > session.epoch { return false }
        let queries = view.queries
        let old = known?.classes ?? []
        for name in old.subtracting(queries.map(\.className)) { index.remove(client, from: name) }
        for query in queries { index.insert(query, of: client) }
        // What was examined was not compared with this view.
        let isBehind = position < examined
        sessions[client] = Session(
            epoch: session.epoch,
            classes: Set(queries.map(\.className)),
            hits: isBehind ? (position.next, examined) : nil,
            told: position,
            watch: known?.watch ?? watch(client, since: position)
        )
        return isBehind
    }

    /// The number of a new watch.
    private mutating func watch(_ client: FileIdent, since position: ServerVersion) -> UInt64 {
        if untold.count > 2 * sessions.count + 64 {
            untold.removeAll { sessions[$0.client]?.watch != $0.number }
        }
        watches += 1
        untold.append(Watch(client: client, number: watches, since: position))
        return watches
    }

    /// Forgets a session, and earlier ones of its client file.
    mutating func detach(_ session: ViewSession) {
        guard let known = sessions[session.ident], known.epoch <= session.epoch else { return }
        for name in known.classes { index.remove(session.ident, from: name) }
        sessions[session.ident] = nil
    }

    /// The position from which a session must scan that has scanned up to another one.
    func start(of session: ViewSession, from position: ServerVersion) -> ServerVersion {
        guard let known = known(session) else { return position }
        guard let hits = known.hits else { return max(position, examined) }
        return max(position, hits.first.previous)
    }

    /// The session has scanned up to a version.
    mutating func scanned(_ session: ViewSession, upTo version: ServerVersion) {
        guard let hits = known(session)?.hits else { return }
        sessions[session.ident]?.hits =
            hits.last <= version ? nil : (max(hits.first, version.next), hits.last)
    }

    private func known(_ session: ViewSession) -> Session? {
        sessions[session.ident].flatMap { $0.epoch == session.epoch ? $0 : nil }
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
        let versions = versionsUntold
        while let oldest = untold.first, examined.rawValue &- oldest.since.rawValue >= versions {
            untold.removeFirst()
            guard let session = sessions[oldest.client], session.watch == oldest.number else {
                continue
            }
            if examined.rawValue &- session.told.rawValue >= versions {
                clients.append(oldest.client)
                sessions[oldest.client]?.told = examined
            }
            untold.append(
                Watch(client: oldest.client, number: oldest.number, since: examined)
            )
        }
        return clients
    }

    /// Sessions that are watched, for tests.
    var watchCount: Int { untold.count }
}

extension ServerVersion {
    fileprivate var next: ServerVersion { ServerVersion(rawValue &+ 1) }
    fileprivate var previous: ServerVersion { ServerVersion(rawValue &- 1) }
}
