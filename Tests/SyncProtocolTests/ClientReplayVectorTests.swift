import Changesets
import ScriptedPeers
import SyncProtocol
import TestSupport
import Testing
import Versions

/// Plays the recorded server to our client sessions, and expects from them the messages that the
/// reference client sent.
///
/// The recording does not say when the reference committed, asked for a download completion or
/// closed a session; our session gets those events when its next recorded message requires them.
/// The two directions of a recording run independently, so the server's messages are delivered no
/// earlier than they are needed.
@Suite(
    "Recorded conversations, played to our client",
    .enabled(if: Vectors.areRequiredOrPresent, "the folder of vectors is not there")
)
struct ClientReplayVectorTests {
    @Test("Our client sends what the reference sent")
    func replay() throws {
        var count = 0
        for scenario in try WireScenario.all() {
            var replay = ClientReplay(scenario: scenario)
            count += try replay.run()
        }
        print("client replay: \(count) messages sent as recorded")
        #expect(count >= 150)
    }
}

/// The part of a client file that outlives its session.
private struct ReplayedFile {
    var ident = SaltedFileIdent.none
    var progress = SyncProgress.zero
    var localVersion = ClientVersion(1)
}

private struct ReplayedSession {
    var session: ClientSession
    var file: ReplayedFile
    /// Nil in partition-based sync.
    var subscriptions: SessionSubscriptions?
    let path: Text
    /// Received by the reference, not yet by our session.
    var pending: [ServerMessage] = []
    /// The resource that survives a lost connection: the last IDENT's file.
    var isFirst = true
}

private struct ClientReplay {
    let scenario: WireScenario
    /// By path and ident: two files of one path differ by their idents.
    private var files: [String: ReplayedFile] = [:]
    private var sessions: [String: ReplayedSession] = [:]

    init(scenario: WireScenario) {
        self.scenario = scenario
    }

    /// The number of messages that our sessions sent as recorded.
    mutating func run() throws -> Int {
        let client = WireContext(mode: scenario.mode, limits: .client)
        var count = 0
        for line in scenario.binaryLines {
            switch line.dir {
            case .fromServer:
                let message = try ServerMessage(decoding: line.bytes, context: client)
                guard let session = message.session else { continue }
                sessions[key(line, session)]?.pending.append(message)
            case .fromClient:
                let message = try ClientMessage(decoding: line.bytes, context: server)
                guard let session = message.session else { continue }
                try expect(message, from: key(line, session), line)
                count += 1
            }
        }
        for key in sessions.keys { end(key) }
        return count
    }

    private var server: WireContext { WireContext(mode: scenario.mode, limits: .server) }

    private func key(_ line: WireScenario.Line, _ session: SessionIdent) -> String {
        "\(line.conn)/\(session.rawValue)"
    }

    private mutating func expect(
        _ expected: ClientMessage,
        from key: String,
        _ line: WireScenario.Line
    ) throws {
        if case .bind(let bind) = expected {
            end(key)
            sessions[key] = begin(bind, line)
        }
        let original = try #require(sessions[key], "\(scenario.name) \(line.seq)")
        var sent: ClientMessage?
        for delivered in 0...original.pending.count {
            var attempt = original
            attempt.deliver(delivered)
            sent = attempt.send(toMatch: expected)
            if sent == expected {
                sessions[key] = attempt
                return
            }
        }
        Issue.record(
            """
            \(scenario.name) \(line.seq): expected \(line.bytes.prefix(60)), sent \
            \(String(describing: sent))
            """
        )
    }

    private mutating func begin(
        _ bind: ClientMessage.Bind,
        _ line: WireScenario.Line
    ) -> ReplayedSession {
        let file = bind.needsFileIdent ? ReplayedFile() : boundFile(bind, line)
        let subscriptions = ident(after: line, of: bind.session)?.query.map {
            SessionSubscriptions(active: $0)
        }
        let purpose = FlexibleBinding(decoding: bind.path)?.purpose
        // The restarted session after a client reset names the same purpose, and uploads.
        let isFreshCopy = bind.needsFileIdent && purpose == .clientReset
        var session = ClientSession(
            ident: bind.session,
            path: bind.path,
            fileIdent: file.ident,
            progress: file.progress,
            localVersion: file.localVersion,
            uploadActivation: isFreshCopy ? .never : .immediate,
            subscriptions: subscriptions
        )
        session.connected(isFastReconnect: false)
        return ReplayedSession(
            session: session,
            file: file,
            subscriptions: subscriptions,
            path: bind.path
        )
    }

    /// The known file that a BIND without request is for, found by the IDENT after it.
    private func boundFile(
        _ bind: ClientMessage.Bind,
        _ line: WireScenario.Line
    ) -> ReplayedFile {
        if let ident = ident(after: line, of: bind.session) {
            var file = files["\(bind.path) \(ident.file.ident.rawValue)"] ?? ReplayedFile()
            // The recording client replaces the file by another copy in a client reset, and may end
            // a connection with messages on the way: its own messages show what it had received.
            file.ident = ident.file
            file.progress.download = ident.download
            file.progress.latestServerVersion = ident.latestServerVersion
            return file
        }
        return ReplayedFile()
    }

    private func ident(
        after line: WireScenario.Line,
        of session: SessionIdent
    ) -> ClientMessage.Ident? {
        for later in scenario.binaryLines where later.seq > line.seq && later.conn == line.conn {
            guard later.dir == .fromClient,
                case .ident(let ident) = try? ClientMessage(
                    decoding: later.bytes,
                    context: server
                ), ident.session == session
            else { continue }
            return ident
        }
        return nil
    }

    private mutating func end(_ key: String) {
        guard var session = sessions.removeValue(forKey: key) else { return }
        session.deliver(session.pending.count)
        files["\(session.path) \(session.file.ident.ident.rawValue)"] = session.file
    }
}

extension ReplayedSession {
    /// Delivers the first pending messages, and carries out their effects.
    mutating func deliver(_ count: Int) {
        for message in pending.prefix(count) {
            for effect in session.received(message) { carryOut(effect) }
        }
        pending.removeFirst(count)
    }

    private mutating func carryOut(_ effect: ClientSession.Effect) {
        switch effect {
        case .storeFileIdent(let ident):
            file.ident = ident
            file.localVersion = ClientVersion(file.localVersion.rawValue + 1)
            session.fileIdentStored(ident, localVersion: file.localVersion)
        case .integrate(let download):
            integrate(download)
        case .close(let violation):
            Issue.record("\(violation)")
        case .downloadCompleted:
            if let active = subscriptions?.active { change(SessionSubscriptions(active: active)) }
        case .storeQueryError: Issue.record("the recorded server rejects no query")
        case .suspend, .report, .undoing, .log:
            break
        }
    }

    /// Stages the messages of a bootstrap, whose last one brings the progress of all.
    private mutating func integrate(_ download: ClientSession.Download) {
        switch download.part {
        case .history: file.progress = download.progress
        case .bootstrap(_, _, isLast: false, _): break
        case .bootstrap(let version, _, isLast: true, _):
            file.progress = download.progress
            let pending = subscriptions?.pending.first { $0.query.version == version }
            if let query = pending?.query {
                change(SessionSubscriptions(active: query, isAwaitingMark: true))
            }
        }
        let effects = session.integrated(
            download.part,
            file.progress,
            localVersion: file.localVersion
        )
        for effect in effects { carryOut(effect) }
    }

    private mutating func change(_ sets: SessionSubscriptions) {
        subscriptions = sets
        session.subscriptionsChanged(sets)
    }

    /// Triggers the local event that the recorded message implies, and gives the session a turn.
    mutating func send(toMatch expected: ClientMessage) -> ClientMessage? {
        switch expected {
        case .upload(let upload): return sendUpload(toMatch: upload)
        case .mark(_, let request):
            // Several requests before a turn share one MARK.
            for _ in 0...request.rawValue {
                var attempt = session
                if case .send(let message) = attempt.nextStep(), message == expected { break }
                session.requestDownloadCompletion()
            }
        case .query(_, let query):
            // The set is committed now: all that was uploaded precedes it.
            guard let active = subscriptions?.active else { return nil }
            change(
                SessionSubscriptions(
                    active: active,
                    pending: [.init(query: query, snapshotVersion: file.localVersion)]
                )
            )
        case .unbind:
            if !session.isSuspended { session.deactivate() }
        case .bind, .ident, .ping, .jsonError, .testCommand:
            break
        }
        guard case .send(let message) = session.nextStep() else { return nil }
        return message
    }

    private mutating func sendUpload(toMatch upload: ClientMessage.Upload) -> ClientMessage? {
        file.localVersion = max(file.localVersion, upload.progress.clientVersion)
        session.localVersionAvailable(upload.progress.clientVersion)
        guard case .scanUploads(let scan) = session.nextStep() else { return nil }
        // The recorded message's content must be above the cursor that our session requests.
        guard upload.changesets.allSatisfy({ $0.cursor.clientVersion > scan.cursor.clientVersion }),
            scan.end >= upload.progress.clientVersion
        else { return nil }
        session.uploadScanned(
            scan,
            UploadBatch(
                changesets: upload.changesets,
                progress: upload.progress,
                lockedServerVersion: upload.lockedServerVersion
            )
        )
        guard case .send(let message) = session.nextStep() else { return nil }
        return message
    }
}
