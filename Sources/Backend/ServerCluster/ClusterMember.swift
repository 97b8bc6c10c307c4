import Logging
import PostgreSQL
import PostgreSQLServerStore
import ServerStore
import Surroundings
import Synchronization
import Versions

/// The knowledge of one process about the others, from its coordination connection.
final class ClusterMember: Sendable {
    private struct State {
        var participants: [any BackplaneParticipant] = []
        var known = KnownVersions()
        var review = ControlReview()
        /// The control epoch of the last review.
        var reviewedEpoch: Int64?
        var pollsSinceReview = 0
        /// Those of the other processes.
        var counts: [AppID: ConnectionCounts] = [:]
        var identity: ServerIdentity?
        var obstacle: String? = "the database was not reached yet"
        var comparison = ConfigurationComparison()
        /// When the connected clients were last recorded, in milliseconds since 1970.
        var stampedAt: Int64?
        /// The database's clock minus this process's, in milliseconds.
        var clockOffset: Int64 = 0
    }

    private let state = Mutex(State())
    private let schema: String
    private let storeID: String
    private let process: ProcessRecord
    private let clock: WallClock
    private let orders: AsyncStream<BackplaneMessage>.Continuation
    private let logger: Logger

    /// Everything is reviewed once in so many polls, whether the epoch has moved or not.
    private static let pollsBetweenReviews = 12

    init(
        schema: String,
        storeID: String,
        process: ProcessRecord,
        clock: WallClock,
        orders: AsyncStream<BackplaneMessage>.Continuation,
        logger: Logger
    ) {
        self.schema = schema
        self.storeID = storeID
        self.process = process
        self.clock = clock
        self.orders = orders
        self.logger = logger
    }

    // MARK: Participants

    func join(_ participant: any BackplaneParticipant) {
        state.withLock { $0.participants.append(participant) }
    }

    func leave(_ participant: any BackplaneParticipant) {
        state.withLock { $0.participants.removeAll { $0 === participant } }
    }

    /// Passes a message to the participants of this process.
    func pass(_ message: BackplaneMessage) {
        let participants = state.withLock { state in
            if case .growth(let file, let version) = message {
                _ = state.known.grows(file, to: version)
            }
            return state.participants
        }
        for participant in participants { participant.receive(message) }
    }

    /// An order that needs no repetition when its change is found in the database.
    func note(_ message: BackplaneMessage) {
        state.withLock { $0.review.note(message) }
    }

    func counts(of app: AppID) -> ConnectionCounts {
        let (participants, others) = state.withLock { ($0.participants, $0.counts[app]) }
        return participants.reduce(others ?? ConnectionCounts()) { $0 + $1.counts(of: app) }
    }

    private var presence: ConnectionPresence {
        state.withLock(\.participants).reduce(into: ConnectionPresence()) {
            $0.formUnion($1.presence)
        }
    }

    // MARK: Obstacles

    var obstacle: String? {
        state.withLock { state in
            if let obstacle = state.obstacle { return obstacle }
            guard abs(state.clockOffset) > ProcessLimits.longestOffset else { return nil }
            return "the clock of this machine differs from the database's by "
                + "\(state.clockOffset / 1000) seconds"
        }
    }

    func report(_ obstacle: String) {
        state.withLock { $0.obstacle = obstacle }
        logger.error("processes cannot be reached", metadata: ["reason": "\(obstacle)"])
    }

    // MARK: The coordination connection

    var handlers: CoordinationConnection.Handlers {
        CoordinationConnection.Handlers(
            connected: { try self.connected($0) },
            poll: { try self.poll($0) },
            heard: { self.hear($0) },
            lost: { self.lost($0) },
            closing: { try ClusterStatements.leave($0, self.process) }
        )
    }

    /// A new connection: announcements of before are lost (server on PostgreSQL, 6.4).
    private func connected(_ connection: Connection) throws {
        _ = try PostgreSQLLayout.check(connection, schema: schema, storeID: storeID)
        let identity = try connection.identity()
        let previous = state.withLock { state in
            defer { state.identity = identity }
            state.reviewedEpoch = nil
            return state.identity
        }
        try poll(connection)
        if let previous, !previous.hasSameHistory(as: identity) { endSessions() }
        state.withLock { $0.obstacle = nil }
        logger.notice("database connected", metadata: ["timeline": "\(identity.timeline)"])
    }

    /// Another server answers, or a standby was promoted: clients may know versions that it lacks.
    private func endSessions() {
        logger.warning("the database has another history, sessions begin again")
        for app in presence.counts.keys { orders.yield(.control(.app(app), .rebind)) }
    }

    private func poll(_ connection: Connection) throws {
        let presence = presence
        let before = clock.millisecondsSince1970()
        let poll = try ClusterStatements.poll(
            connection,
            process,
            clockOffset: state.withLock(\.clockOffset),
            presence
        )
        let middle = before + (clock.millisecondsSince1970() - before) / 2
        compareClocks(poll.databaseTime.subtracting(clamping: middle))
        let (grown, mustReview) = state.withLock { state in
            state.counts = poll.counts
            state.pollsSinceReview += 1
            let mustReview =
                state.reviewedEpoch != poll.controlEpoch
                || state.pollsSinceReview >= Self.pollsBetweenReviews
            return (state.known.compare(poll.versions), mustReview)
        }
        for growth in grown { pass(.growth(of: growth.file, to: growth.version)) }
        compareConfigurations(presence, poll.fingerprints)
        if mustReview { try review(connection, presence, poll.controlEpoch) }
        try stamp(connection, presence)
    }

    private func review(
        _ connection: Connection,
        _ presence: ConnectionPresence,
        _ controlEpoch: Int64
    ) throws {
        let records = try ClusterStatements.records(connection, for: presence)
        let missed = state.withLock { state in
            state.reviewedEpoch = controlEpoch
            state.pollsSinceReview = 0
            return state.review.messages(for: presence, records)
        }
        for message in missed { enqueue(message) }
    }

    private func compareConfigurations(
        _ presence: ConnectionPresence,
        _ others: [[AppID: String]]
    ) {
        let now = clock.millisecondsSince1970()
        let differing = state.withLock {
            $0.comparison.differing(presence.fingerprints, others, at: now)
        }
        for app in differing {
            logger.warning(
                "processes have different configurations",
                metadata: ["code": "server.configuration_differs", "app": "\(app)"]
            )
        }
    }

    // MARK: Connected clients

    /// The longest time between two records of connected clients.
    private static let longestStampInterval: Int64 = 300_000
    private static let shortestStampInterval: Int64 = 5_000

    /// A quarter of the shortest offline limit, so that no connected client ever counts as absent.
    private static func stampInterval(_ presence: ConnectionPresence) -> Int64 {
        let quarter = presence.offlineLimitInMilliseconds.map { $0 / 4 } ?? .max
        return max(shortestStampInterval, min(longestStampInterval, quarter))
    }

    private func stamp(_ connection: Connection, _ presence: ConnectionPresence) throws {
        let now = clock.millisecondsSince1970()
        let last = state.withLock(\.stampedAt)
        if let last, now.subtracting(clamping: last) < Self.stampInterval(presence) { return }
        try StampStatements.stamp(connection, process, presence.clients.keys, at: now)
        state.withLock { $0.stampedAt = now }
    }

    /// Whether all processes that are alive have recorded their clients, and agree on an app.
    func agree(_ connection: Connection, on app: AppID) throws -> Bool {
        let seconds = Self.stampInterval(presence) / 1000 * 2 + ProcessLimits.aliveSeconds
        return try StampStatements.agree(connection, on: app, within: seconds)
    }

    private func compareClocks(_ offset: Int64) {
        let before = state.withLock { state in
            defer { state.clockOffset = offset }
            return state.clockOffset
        }
        guard abs(offset) > ProcessLimits.tolerableOffset,
            abs(before) <= ProcessLimits.tolerableOffset
        else {
            return
        }
        logger.warning(
            "this machine's clock differs from the database's",
            metadata: ["code": "server.clock_differs", "milliseconds": "\(offset)"]
        )
    }

    private func hear(_ announcement: Announcement) {
        switch announcement {
        case .grown(let growths):
            for growth in growths {
                let file = ServerFileID(growth.file)
                let isNews = state.withLock { $0.known.grows(file, to: growth.version) }
                if isNews { pass(.growth(of: file, to: growth.version)) }
            }
        case .takenOver(let file, let ident, let epoch):
            let client = ClientFileID(file: ServerFileID(file), ident: ident)
            pass(.takeover(of: client, epoch: UInt64(clamping: epoch)))
        case .controlled:
            // The poll that follows finds the change.
            break
        case .ordered(let text):
            guard let message = OrderText.message(text) else { return }
            note(message)
            enqueue(message)
        }
    }

    /// Orders wait until the app's record is read again, in the order of their sender.
    private func enqueue(_ message: BackplaneMessage) {
        switch message {
        case .growth, .takeover: pass(message)
        case .control, .changed: orders.yield(message)
        }
    }

    private func lost(_ error: any Error) {
        let isNew = state.withLock { state in
            defer { state.obstacle = "the database cannot be reached: \(error)" }
            return state.obstacle == nil
        }
        guard isNew else { return }
        logger.error(
            "database connection lost",
            metadata: ["code": "store.unreachable", "reason": "\(error)"]
        )
    }
}
