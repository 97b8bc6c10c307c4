import SyncProtocol
import Versions

/// What the sessions of one connection wait for the store to do, in order within each session.
struct SessionWork {
    typealias SessionKey = ServerConnection.SessionKey

    enum Step {
        case open(path: [UInt8], needsFileIdent: Bool)
        case validate(ClientMessage.Ident)
        /// Uploads that follow each other, for one commit.
        case integrate([UploadCheck.Admitted])
        case scanDownload(from: DownloadCursor)

        var uploadSizeInBytes: Int {
            guard case .integrate(let uploads) = self else { return 0 }
            return uploads.reduce(0) { $0 + $1.changesets.sizeInMemory }
        }
    }

    struct Session {
        /// Known once the session is open.
        var file: ServerFileID?
        /// Known once the IDENT is accepted.
        var client: ClientFile?
        fileprivate var steps: [Step] = []
        fileprivate var isAtWork = false
        /// UNBOUND, or the connection is gone: what was uploaded before still counts.
        fileprivate(set) var hasEnded = false
        /// An upload was not integrated. None after it may be: client versions would be missing, and
        /// nobody would know.
        fileprivate var hasFailed = false

        /// The first step, with the uploads that follow if it is one.
        fileprivate mutating func takeStep() -> Step {
            let first = steps.removeFirst()
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

    mutating func begin(_ key: SessionKey) {
        sessions[key] = Session()
    }

    mutating func opened(_ key: SessionKey, _ file: ServerFileID) {
        sessions[key]?.file = file
    }

    mutating func identified(_ key: SessionKey, _ client: ClientFile) {
        sessions[key]?.client = client
    }

    /// Adds a step. True if nobody is at work for the session: somebody has to start.
    mutating func enqueue(_ step: Step, for key: SessionKey) -> Bool {
        guard var session = sessions[key], !session.hasEnded, !session.hasFailed else {
            return false
        }
        defer { sessions[key] = session }
        session.steps.append(step)
        backlogInBytes += step.uploadSizeInBytes
        guard !session.isAtWork else { return false }
        session.isAtWork = true
        return true
    }

    /// The step to take now; nil when there is none, and whoever was at work can stop.
    mutating func next(of key: SessionKey) -> (step: Step, session: Session)? {
        guard var session = sessions[key] else { return nil }
        guard !session.steps.isEmpty else {
            session.isAtWork = false
            sessions[key] = session.hasEnded ? nil : session
            return nil
        }
        let step = session.takeStep()
        sessions[key] = session
        return (step, session)
    }

    /// A step that `next` gave is done, well or not.
    mutating func finished(_ step: Step) {
        backlogInBytes -= step.uploadSizeInBytes
    }

    /// Drops everything that waits in the session.
    mutating func fail(_ key: SessionKey) {
        sessions[key]?.hasFailed = true
        drop(key) { _ in true }
    }

    /// The session is over for the client; what it had uploaded is still integrated.
    mutating func end(_ key: SessionKey) {
        guard let session = sessions[key] else { return }
        sessions[key]?.hasEnded = true
        drop(key) { step in
            if case .integrate = step { false } else { true }
        }
        if !session.isAtWork { sessions[key] = nil }
    }

    private mutating func drop(_ key: SessionKey, _ isPointless: (Step) -> Bool) {
        for step in sessions[key]?.steps.filter(isPointless) ?? [] { finished(step) }
        sessions[key]?.steps.removeAll(where: isPointless)
    }
}
