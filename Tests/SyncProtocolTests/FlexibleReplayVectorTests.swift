import Changesets
import ScriptedPeers
import SyncProtocol
import TestSupport
import Testing
import Versions

/// Plays recorded clients of flexible sync to our server's end, with a store that returns what the
/// recorded server sent. That server was a script: only the clients' half is authoritative, and our
/// end must accept it and be able to say the same.
@Suite(
    "Recorded flexible conversations, played to our server",
    .enabled(if: Vectors.areRequiredOrPresent, "the folder of vectors is not there")
)
struct FlexibleReplayVectorTests {
    @Test("Our server sends what the recorded clients accepted")
    func replay() throws {
        var count = 0
        for scenario in try WireScenario.all() where scenario.mode == .flexible {
            for connection in scenario.connections {
                var replay = FlexibleReplay(scenario, connection)
                count += try replay.run()
            }
        }
        #expect(count >= 40)
    }
}

private struct FlexibleReplay {
    private let name: String
    private let lines: [WireScenario.Line]
    private var server = ServerConnection(
        subProtocol: SubProtocol(mode: .flexible, version: 14),
        appMode: .flexible
    )
    private var keys: [SessionIdent: ServerConnection.SessionKey] = [:]
    /// The session of the newest BIND.
    private var bound = SessionIdent.first
    private var scans: Set<ServerConnection.SessionKey> = []
    private var validating: Set<ServerConnection.SessionKey> = []
    private var progress: [ServerConnection.SessionKey: SyncProgress] = [:]
    private var sent: [ServerMessage] = []

    init(_ scenario: WireScenario, _ connection: Int) {
        self.name = scenario.name
        self.lines = scenario.binaryLines.filter { $0.conn == connection }
    }

    /// The number of messages that our end sent as recorded.
    mutating func run() throws -> Int {
        let client = WireContext(mode: .flexible, limits: .client)
        var count = 0
        for (index, line) in lines.enumerated() {
            switch line.dir {
            case .fromClient:
                let context = WireContext(mode: .flexible, limits: .server)
                if case .bind(let bind) = try ClientMessage(decoding: line.bytes, context: context)
                {
                    bound = bind.session
                }
                take(server.received(line.bytes))
            case .fromServer:
                let message = try ServerMessage(decoding: line.bytes, context: client)
                let rest = try lines[index...].filter { $0.dir == .fromServer }
                    .map { try ServerMessage(decoding: $0.bytes, context: client) }
                produce(message, rest)
                let position = sent.firstIndex { isSame($0, message) }
                #expect(position != nil, "\(name) \(line.seq): \(message.name), have \(sent)")
                if let position { sent.remove(at: position) }
                count += 1
            }
        }
        return count
    }

    /// Errors have texts of their own; extents compare without the estimate.
    private func isSame(_ ours: ServerMessage, _ recorded: ServerMessage) -> Bool {
        switch (ours, recorded) {
        case (.jsonError(let ours), .jsonError(let theirs)):
            ours.code == theirs.code && ours.session == theirs.session
        case (.download(let ours), .download(let theirs)):
            ours.progress == theirs.progress && ours.changesets == theirs.changesets
                && ours.session == theirs.session && ours.extent == theirs.extent
        default: ours == recorded
        }
    }

    private mutating func take(_ effects: [ServerConnection.Effect]) {
        for effect in effects {
            switch effect {
            case .send(let message): sent.append(message)
            case .work(let key, .open(_, let needsFileIdent)):
                keys[bound] = key
                if !needsFileIdent { take(server.opened(key, assigned: nil)) }
            case .work(let key, .validate): validating.insert(key)
            case .work(let key, .scanDownload): scans.insert(key)
            case .work(let key, .subscribe): _ = server.beginSubscription(key)
            case .work(_, .integrate), .ended: break
            case .close: Issue.record("\(name): the connection ended: \(sent.last as Any)")
            }
        }
    }

    /// Lets the store answer so that our end can send the message.
    private mutating func produce(_ message: ServerMessage, _ rest: [ServerMessage]) {
        guard let session = message.session, let key = keys[session] else { return }
        if validating.contains(key), !isError(message) {
            validating.remove(key)
            let isBootstrap =
                if case .download(let download) = message,
                    case .query(_, let state, _) = download.extent
                { state != .steady } else { false }
            take(
                server.identified(
                    key,
                    upload: .zero,
                    locked: .zero,
                    needsBootstrap: isBootstrap
                )
            )
        }
        switch message {
        case .ident(_, let file): take(server.opened(key, assigned: file))
        case .download(let download): produce(download, key)
        case .mark:
            guard scans.remove(key) != nil, let progress = progress[key] else { return }
            take(
                server.scanned(
                    key,
                    .init(changesets: [], progress: progress, downloadableBytes: 0)
                )
            )
        case .jsonError(let report):
            guard case .compensated(let rejected, let version)? = report.body.details else {
                return take(server.fail(key, .badClientFileIdent, message: ""))
            }
            take(server.fail(key, .compensatingWrite(rejected, undoneAt: version), message: ""))
        case .unbound, .error, .queryError, .pong, .logMessage, .testCommand: break
        }
    }

    private func isError(_ message: ServerMessage) -> Bool {
        if case .jsonError = message { true } else { false }
    }

    private mutating func produce(
        _ download: ServerMessage.Download,
        _ key: ServerConnection.SessionKey
    ) {
        progress[key] = download.progress
        guard case .query(let version, let state, let estimate) = download.extent else { return }
        guard state == .steady else {
            return take(
                server.bootstrapped(
                    key,
                    .init(
                        query: version,
                        changesets: download.changesets,
                        progress: download.progress,
                        estimate: estimate,
                        isLast: state == .lastOfBootstrap
                    )
                )
            )
        }
        if !scans.contains(key) {
            let newest = download.progress.download.serverVersion
            take(server.historyGrew(key, to: newest))
        }
        guard scans.remove(key) != nil else { return }
        take(
            server.scanned(
                key,
                .init(
                    changesets: download.changesets,
                    progress: download.progress,
                    downloadableBytes: 0
                )
            )
        )
    }
}
