import Changesets
import DequeModule
import Permissions
import Query
import Scopes
import ServerStore
import SyncProtocol
import Versions

/// The pending store work of one connection's sessions, in order within each session.
struct SessionWork {
    typealias SessionKey = ServerConnection.SessionKey

    struct Session {
        /// Known once the session is open.
        fileprivate(set) var file: ServerFileID?
        fileprivate(set) var partition: Partition?
        /// Known once the IDENT is accepted; with the uploads that this session had integrated.
        var client: ClientFile?
        /// The history as its client was told; known once the IDENT is accepted.
        fileprivate(set) var told: SessionGuard?
        /// The newest versions of the file, if they are this client's own alone.
        fileprivate(set) var ownVersions: OwnVersions?
        /// The rights that its view is based on; nil in partition-based sync.
        fileprivate(set) var rights: UserRightsSignature?
        /// Rights were compared while its IDENT was validated, perhaps by the earlier rules.
        fileprivate(set) var missedReview = false
        /// The subscriptions in force; nil before they are, and in partition-based sync.
        fileprivate(set) var subscriptions: SubscriptionSetBody?
        /// Whether one of them is for a class that may be added later.
        fileprivate(set) var awaitsClass = false
        fileprivate(set) var waiting = WaitingVersions()
        fileprivate var steps: Deque<SessionStep> = []
        fileprivate var isAtWork = false
        /// UNBOUND, or the connection has ended: earlier uploads are still integrated.
        fileprivate(set) var hasEnded = false
        /// An upload was not integrated. None after it may be: client versions would be missing
        /// without notice.
        fileprivate var hasFailed = false

        /// The first step, with the uploads that follow if it is an upload.
        fileprivate mutating func takeStep() -> SessionStep? {
            guard let first = steps.popFirst() else { return nil }
            guard case .integrate(var uploads) = first else { return first }
            var size = first.uploadSizeInBytes
            while let next = steps.first, case .integrate(let more) = next {
                size += next.uploadSizeInBytes
                guard size <= ConnectionLimits.uploadsAtOnceInBytes else { break }
                uploads += more
                steps.removeFirst()
            }
            return .integrate(uploads)
        }
    }

    private(set) var sessions: [SessionKey: Session] = [:]
    /// Uploads that are not integrated yet.
    private(set) var backlogInBytes = 0

    subscript(key: SessionKey) -> Session? { sessions[key] }

    /// The sessions that have uploads waiting, beside those that the store is at.
    var waitingUploaders: [SessionKey] {
        sessions.filter { session in
            session.value.steps.contains { if case .integrate = $0 { true } else { false } }
        }.map(\.key)
    }

    mutating func begin(_ key: SessionKey) {
        sessions[key] = Session()
    }

    mutating func opened(_ key: SessionKey, _ file: ServerFileID, of partition: Partition) {
        sessions[key]?.file = file
        sessions[key]?.partition = partition
    }

    /// - Parameter latest: the newest server version that the client knows.
    mutating func identified(
        _ key: SessionKey,
        _ client: ClientFile,
        in file: ServerFileID,
        latest: SaltedServerVersion,
        rights: UserRightsSignature?
    ) {
        sessions[key]?.client = client
        sessions[key]?.rights = rights
        sessions[key]?.told = SessionGuard(
            client: ClientFileID(file: file, ident: client.ident),
            generation: client.generation,
            clientVersion: client.upload.clientVersion,
            sessionEpoch: client.sessionEpoch,
            newest: latest
        )
    }

    /// The session has a new view. Classes that were added since its IDENT count from here on.
    mutating func viewed(_ key: SessionKey, under rights: UserRightsSignature) {
        sessions[key]?.rights = rights
    }

    mutating func subscribed(_ key: SessionKey, to body: SubscriptionSetBody) {
        let rights = sessions[key]?.rights
        sessions[key]?.subscriptions = body
        sessions[key]?.awaitsClass = body.queries.keys.contains { rights?.knows($0) == false }
    }

    /// Its rights, which are not known yet, must be compared once they are.
    mutating func missReview(_ key: SessionKey) {
        sessions[key]?.missedReview = true
    }

    /// Uploads up to a version of the client's are integrated.
    mutating func integrated(
        _ key: SessionKey,
        upTo version: ClientVersion,
        _ outcome: UploadIntegration.Outcome
    ) {
        sessions[key]?.told?.noteIntegrated(upTo: version)
        sessions[key]?.client?.upload = outcome.upload
        let earlier = sessions[key]?.ownVersions
        sessions[key]?.ownVersions = outcome.ownVersions?.following(earlier)
    }

    /// The file has a version that the session will be sent; `now` in milliseconds since 1970.
    mutating func grew(_ key: SessionKey, to version: ServerVersion, at now: Int64) {
        sessions[key]?.waiting.grew(to: version, at: now)
    }

    /// Everything up to this version is on its way to the client.
    mutating func sent(_ key: SessionKey, upTo version: ServerVersion) {
        sessions[key]?.waiting.sent(upTo: version)
    }

    /// When the server learned of the oldest version that a session has not been sent, in milliseconds
    /// since 1970; nil if all is sent.
    var oldestWaiting: Int64? {
        sessions.values.filter { !$0.hasEnded && !$0.hasFailed }.compactMap(\.waiting.oldest).min()
    }

    /// The client is about to learn of this version as the newest.
    mutating func told(_ key: SessionKey, _ version: SaltedServerVersion) {
        sessions[key]?.told?.noteTold(version)
    }

    /// Adds a step. Returns true if no task works for the session: the caller must start one.
    mutating func enqueue(_ step: SessionStep, for key: SessionKey) -> Bool {
        // In place: a copy of the session would copy all its steps.
        let isOpen = sessions[key].map { !$0.hasEnded && !$0.hasFailed } ?? false
        guard isOpen else { return false }
        sessions[key]?.steps.append(step)
        backlogInBytes += step.uploadSizeInBytes
        guard sessions[key]?.isAtWork == false else { return false }
        sessions[key]?.isAtWork = true
        return true
    }

    /// The next step, and the session without the steps after it; nil if no step is left, and the
    /// worker can stop.
    mutating func next(of key: SessionKey) -> (step: SessionStep, session: Session)? {
        guard let step = sessions[key]?.takeStep(), var session = sessions[key] else {
            sessions[key]?.isAtWork = false
            if sessions[key]?.hasEnded == true { sessions[key] = nil }
            return nil
        }
        session.steps = []
        return (step, session)
    }

    /// Ends a step that `next` returned, in success or failure.
    mutating func finished(_ step: SessionStep) {
        backlogInBytes -= step.uploadSizeInBytes
    }

    /// Drops all pending steps of the session.
    mutating func fail(_ key: SessionKey) {
        sessions[key]?.hasFailed = true
        drop(key) { _ in true }
    }

    /// Ends the session for the client; its uploads are still integrated.
    mutating func end(_ key: SessionKey) {
        guard let session = sessions[key] else { return }
        sessions[key]?.hasEnded = true
        drop(key) { step in
            if case .integrate = step { false } else { true }
        }
        if !session.isAtWork { sessions[key] = nil }
    }

    private mutating func drop(_ key: SessionKey, _ isPointless: (SessionStep) -> Bool) {
        for step in sessions[key]?.steps ?? [] where isPointless(step) { finished(step) }
        sessions[key]?.steps.removeAll(where: isPointless)
    }
}

extension SessionStep {
    /// Roughly the memory of the uploads or subscriptions in it.
    var uploadSizeInBytes: Int {
        switch self {
        case .integrate(let uploads):
            uploads.reduce(0) { $0 + $1.changesets.sizeInMemory + Self.overheadInBytes }
        case .subscribe(let query): query.body.bytes.count + Self.overheadInBytes
        case .open, .validate, .scanDownload: 0
        }
    }

    /// The size of an upload without its changesets.
    private static let overheadInBytes = 256
}
