import Changesets
import SyncProtocol
import TestSupport
import Versions

/// A client session in a given state, with its requested and unanswered work.
///
/// It identifies states only by the session's behaviour, so it depends on nothing inside the
/// session.
struct ScriptedSession {
    /// The states of a session. The part after a slash is the state's data.
    enum State: String, CaseIterable {
        case offline, unbound, awaitingIdent, identifying, running
        case stalledReport = "stalled/report"
        case stalled
        case refused
        case refusedBind = "refused/bind"
        case refusedEnd = "refused/end"
        case suspended
        case suspendedOffline = "suspended/offline"
        case leaving, unbinding, ended
    }

    /// The events before the session reached its state.
    enum Story: String, CaseIterable {
        /// The file has no ident yet.
        case new
        /// The ident that the server assigned is being stored.
        case storing
        /// A file that synced before; nothing is under way.
        case known
        /// A download is being integrated.
        case integrating
        /// The same; the server has answered the MARK behind the download.
        case integratingMarked
        /// The same; the download undoes a rejected write.
        case integratingUndo
        /// Uploads are not held, and everything is uploaded.
        case uploaded
        /// Uploads are not held, and the local history is being scanned.
        case scanning

        /// The stories tried with every state. The others replace one of these if an event needs
        /// more.
        static let main: [Story] = [.new, .storing, .known, .integrating]
    }

    enum Work {
        case storeFileIdent(SaltedFileIdent)
        case integrate(SyncProgress)
    }

    var session: ClientSession
    /// Requested and not answered.
    private var work: [Work] = []
    private var scan: UploadScan?
    private var random = SplitMix64(seed: 1)

    /// Server version 4, and then 5, of another client.
    static let progress4 = progress(latest: 4, download: (4, 2), upload: (2, 1))
    static let progress5 = progress(latest: 5, download: (5, 2), upload: (2, 1))
    /// A rejected write, undone at server version 4.
    static let compensatingWrite = SessionFault.compensatingWrite(
        SessionFault.RejectedUpdates(clientVersion: ClientVersion(5), updates: []),
        undoneAt: ServerVersion(4)
    )

    private init(_ story: Story) {
        let isNew = story == .new || story == .storing
        let uploadsAtOnce = story == .uploaded || story == .scanning
        session = ClientSession(
            ident: 1,
            path: "\"p\"",
            fileIdent: isNew ? .none : fileIdent(2),
            progress: isNew ? .zero : ClientSessionTests.steady,
            localVersion: ClientVersion(story == .uploaded ? 2 : 6),
            uploadActivation: uploadsAtOnce ? .immediate : .afterDownload
        )
        session.connected(isFastReconnect: false)
        takeTurns()
        switch story {
        case .new, .known, .uploaded, .scanning: break
        case .storing: receive(.ident(1, fileIdent(2)))
        case .integrating: receive(download(1, Self.progress4))
        case .integratingMarked:
            receive(download(1, Self.progress4))
            receive(.mark(1, RequestIdent(1)))
        case .integratingUndo:
            receive(sessionError(Self.compensatingWrite))
            receive(download(1, Self.progress4))
        }
    }

    /// Brings a session into a state; nil if the story cannot end there.
    init?(_ story: Story, in state: State) {
        self.init(story)
        switch state {
        case .awaitingIdent:
            guard story == .new else { return nil }
        case .identifying:
            guard story != .storing else { return }
            guard story != .new, work.isEmpty else { return nil }
            session.disconnected()
            session.connected(isFastReconnect: true)
            _ = session.nextStep()
        case .running:
            guard session.isIdentified else { return nil }
        case .stalledReport, .stalled:
            guard session.isIdentified else { return nil }
            receive(download(1, Self.progress5))
            work.removeFirst()
            session.integrationFailed(Self.failure)
            if state == .stalled { takeTurns() }
        case .offline, .unbound:
            session.disconnected()
            if state == .unbound { session.connected(isFastReconnect: true) }
        case .refused, .refusedBind, .refusedEnd, .suspended, .suspendedOffline:
            receive(sessionError(.sessionClosed))
            if state == .refusedBind { session.resume() }
            if state == .refusedEnd { session.deactivate() }
            if state == .suspended { takeTurns() }
            if state == .suspendedOffline { session.disconnected() }
        case .leaving, .unbinding, .ended:
            session.deactivate()
            if state == .unbinding { takeTurns() }
            if state == .ended { session.disconnected() }
        }
    }

    private static let failure = IntegrationFailure(.badChangeset, message: "no")
}

// MARK: Events

extension ScriptedSession {
    /// Delivers a message, and names the effects.
    @discardableResult
    mutating func receive(_ message: ServerMessage) -> [String] {
        name(session.received(message))
    }

    private mutating func name(_ effects: [ClientSession.Effect]) -> [String] {
        effects.map { effect in
            switch effect {
            case .storeFileIdent(let file):
                work.append(.storeFileIdent(file))
                return "store"
            case .integrate(let download):
                work.append(.integrate(download.progress))
                return "integrate"
            case .storeQueryError: return "store error"
            case .downloadCompleted: return "completed"
            case .suspend: return "suspend"
            case .report: return "report"
            case .undoing: return "undoing"
            case .log: return "log"
            case .close(.unexpected): return "close"
            case .close(.badFileIdent), .close(.badMark), .close(.badErrorCode), .close(.download):
                return "close: bad"
            case .close: return "close: other"
            }
        }
    }

    /// Takes a turn, and names the session's step.
    mutating func takeTurn() -> [String] {
        switch session.nextStep() {
        case .send(let message): return [message.name]
        case .scanUploads(let scan):
            self.scan = scan
            return ["scan"]
        case nil: return []
        }
    }

    /// Takes turns until the session has nothing to do.
    @discardableResult
    mutating func takeTurns() -> [String] {
        var names: [String] = []
        for _ in 0..<10 {
            let more = takeTurn()
            guard !more.isEmpty else { break }
            names += more
        }
        return names
    }

    /// Answers the oldest work that has no answer; nil if it is of another kind.
    mutating func storeFileIdent() -> [String]? {
        guard case .storeFileIdent(let file) = work.first else { return nil }
        work.removeFirst()
        session.fileIdentStored(file, localVersion: ClientVersion(7))
        return []
    }

    mutating func integrate() -> [String]? {
        guard case .integrate(let progress) = work.first else { return nil }
        work.removeFirst()
        return name(session.integrated(progress, localVersion: ClientVersion(7)))
    }

    mutating func failIntegration() -> [String]? {
        guard case .integrate = work.first else { return nil }
        work.removeFirst()
        session.integrationFailed(Self.failure)
        return []
    }

    mutating func interruptIntegration() -> [String]? {
        guard case .integrate = work.first else { return nil }
        work.removeFirst()
        session.integrationInterrupted()
        return []
    }

    private mutating func answerEverything() {
        while storeFileIdent() != nil || interruptIntegration() != nil {}
    }

    /// Answers a scan that found one changeset.
    mutating func finishScan() {
        guard let scan else { return }
        let batch = UploadBatch(
            changesets: [uploadChangeset(6, 1)],
            progress: uploadCursor(6, 1),
            lockedServerVersion: ServerVersion(3)
        )
        session.uploadScanned(scan, batch)
    }

    mutating func resumeDelay() -> Duration? {
        session.resumeDelay(using: &random)
    }
}

// MARK: Identifying states

extension ScriptedSession {
    /// The behaviour of a session when tried in several ways.
    struct Conduct: Hashable {
        private let flags: [Bool]
        /// Its messages at once, after all answers, after a new connection, and once resumed.
        private let turns: [[String]]
        private let reactions: [[String]]

        init(of original: ScriptedSession) {
            func trying(_ change: (inout ScriptedSession) -> Void) -> [String] {
                var session = original
                change(&session)
                session.session.requestDownloadCompletion()
                return session.takeTurns().filter { $0 != "scan" && $0 != "UPLOAD" }
            }
            let session = original.session
            flags = [session.wantsConnection, session.isSuspended, session.isEnded]
            turns = [
                trying { _ in },
                trying { $0.answerEverything() },
                trying {
                    $0.answerEverything()
                    $0.session.connected(isFastReconnect: true)
                },
                trying {
                    $0.answerEverything()
                    $0.session.resume()
                },
            ]
            let messages = [
                .ident(1, fileIdent(2)), download(1, ScriptedSession.progress5), .unbound(1),
                sessionError(.otherError),
            ]
            reactions = messages.map { message in
                var session = original
                return session.receive(message)
            }
        }
    }

    /// The state whose sessions behave like this one; nil if there is none, or more than one.
    var state: State? {
        let states = Self.statesByConduct[Conduct(of: self)] ?? []
        return states.count == 1 ? states.first : nil
    }

    /// The usual stories that can end in a state.
    static func stories(leadingTo state: State) -> [Story] {
        Story.main.filter { ScriptedSession($0, in: state) != nil }
    }

    static let statesByConduct: [Conduct: Set<State>] = {
        var states: [Conduct: Set<State>] = [:]
        for state in State.allCases {
            for story in Story.main {
                guard let session = ScriptedSession(story, in: state) else { continue }
                states[Conduct(of: session), default: []].insert(state)
            }
        }
        return states
    }()
}
