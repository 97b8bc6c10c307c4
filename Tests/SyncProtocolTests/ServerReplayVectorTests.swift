import Changesets
import ScriptedPeers
import SyncProtocol
import TestSupport
import Testing
import Versions

/// Plays the recorded clients to our server's end, with a store that returns the recorded results,
/// and expects the recorded messages.
@Suite(
    "Recorded conversations, played to our server",
    .enabled(if: Vectors.areRequiredOrPresent, "the folder of vectors is not there")
)
struct ServerReplayVectorTests {
    /// The server side of these was a script that does not follow every rule.
    private static let scripted = ["partition_app", "partition_client_reset"]

    @Test("Our server answers as the reference did")
    func replay() throws {
        var count = 0
        for scenario in try WireScenario.all()
        where scenario.mode == .partitionBased && !Self.scripted.contains(scenario.name) {
            var store = ReplayedStore()
            for connection in scenario.connections {
                var replay = ServerReplay(scenario: scenario, connection: connection, store: store)
                count += try replay.run()
                store = replay.store
            }
        }
        print("server replay: \(count) answers as recorded")
        #expect(count > 0)
    }
}

/// The recorded server's state, as far as IDENT and UPLOAD are checked against it.
private struct ReplayedStore {
    struct File {
        var salt: Salt
        var upload = UploadCursor.zero
        var locked = ServerVersion.zero
    }

    struct Realm {
        var currentVersion = ServerVersion.zero
        var salts: [ServerVersion: Salt] = [:]
        var files: [FileIdent: File] = [:]
    }

    var realms: [Text: Realm] = [:]
}

private struct ServerReplay {
    let scenario: WireScenario
    let connection: Int
    var store: ReplayedStore

    private var server = ServerConnection(
        subProtocol: SubProtocol(mode: .partitionBased, version: 14)
    )
    private var paths: [ServerConnection.SessionKey: Text] = [:]
    private var idents: [ServerConnection.SessionKey: SaltedFileIdent] = [:]
    private var keys: [SessionIdent: ServerConnection.SessionKey] = [:]
    private var scans: [ServerConnection.SessionKey: DownloadCursor] = [:]
    private var sent: [ServerMessage] = []
    private var lastProgress: [ServerConnection.SessionKey: SyncProgress] = [:]

    init(scenario: WireScenario, connection: Int, store: ReplayedStore) {
        self.scenario = scenario
        self.connection = connection
        self.store = store
    }

    /// The number of the server's messages that match the recording.
    mutating func run() throws -> Int {
        let lines = scenario.binaryLines.filter { $0.conn == connection }
        var count = 0
        for (index, line) in lines.enumerated() {
            switch line.dir {
            case .fromClient:
                carryOut(server.received(line.bytes), rest: lines[(index + 1)...])
            case .fromServer:
                let message = try ServerMessage(decoding: line.bytes, context: .partitionClient)
                prepare(for: message)
                guard isComparable(message) else { continue }
                let position = sent.firstIndex { matches($0, message) }
                #expect(
                    position != nil,
                    "\(scenario.name) \(line.seq): \(message.name), have \(sent.map(\.name))"
                )
                if let position { sent.remove(at: position) }
                count += 1
            }
        }
        return count
    }

    private func isComparable(_ message: ServerMessage) -> Bool {
        if case .logMessage = message { false } else { true }
    }

    /// The reference reports errors in its own text.
    private func matches(_ ours: ServerMessage, _ recorded: ServerMessage) -> Bool {
        guard case .error(let theirs) = recorded else { return ours == recorded }
        guard case .jsonError(let report) = ours else { return false }
        return report.code == theirs.code && report.session == theirs.session
    }

    /// Puts the data implied by the recorded message into the store.
    private mutating func prepare(for message: ServerMessage) {
        guard let session = message.session, let key = keys[session] else { return }
        switch message {
        case .download(let download):
            learn(download, key)
            if scans[key] == nil {
                let version = download.progress.download.serverVersion
                carryOut(server.historyGrew(key, to: version), rest: [])
            }
            guard scans.removeValue(forKey: key) != nil,
                case .partition(let downloadableBytes) = download.extent
            else { return }
            lastProgress[key] = download.progress
            let scanned = ServerSession.Scanned(
                changesets: download.changesets,
                progress: download.progress,
                downloadableBytes: downloadableBytes
            )
            carryOut(server.scanned(key, scanned), rest: [])
        case .mark:
            // Nothing new was found, or a DOWNLOAD would have come first.
            guard scans.removeValue(forKey: key) != nil, let progress = lastProgress[key] else {
                return
            }
            let scanned = ServerSession.Scanned(
                changesets: [],
                progress: progress,
                downloadableBytes: 0
            )
            carryOut(server.scanned(key, scanned), rest: [])
        case .ident, .unbound, .error, .jsonError, .queryError, .pong, .logMessage, .testCommand:
            break
        }
    }

    private mutating func learn(
        _ download: ServerMessage.Download,
        _ key: ServerConnection.SessionKey
    ) {
        guard let path = paths[key] else { return }
        let latest = download.progress.latestServerVersion
        var realm = store.realms[path, default: .init()]
        realm.currentVersion = max(realm.currentVersion, latest.version)
        realm.salts[latest.version] = latest.salt
        if let ident = idents[key] { realm.files[ident.ident]?.upload = download.progress.upload }
        store.realms[path] = realm
    }

    private mutating func carryOut(
        _ effects: [ServerConnection.Effect],
        rest: ArraySlice<WireScenario.Line>
    ) {
        for effect in effects {
            switch effect {
            case .send(let message): sent.append(message)
            case .work(let key, .open(let path, let needsFileIdent)):
                open(key, path, needsFileIdent, rest)
            case .work(let key, .validate(let ident)): validate(key, ident, rest)
            case .work(let key, .integrate(let uploads)):
                if let path = paths[key], let ident = idents[key], let upload = uploads.last {
                    store.realms[path]?.files[ident.ident]?.locked = upload.lockedServerVersion
                }
            case .work(let key, .scanDownload(let cursor)): scans[key] = cursor
            case .ended, .work(_, .subscribe): break
            case .close(let code):
                Issue.record("\(scenario.name): closed with \(code.rawValue) after \(sent)")
            }
        }
    }

    private mutating func open(
        _ key: ServerConnection.SessionKey,
        _ path: Text,
        _ needsFileIdent: Bool,
        _ rest: ArraySlice<WireScenario.Line>
    ) {
        paths[key] = path
        guard !path.description.contains("..") else {
            return carryOut(server.fail(key, .illegalRealmPath, message: "path"), rest: rest)
        }
        guard needsFileIdent else {
            return carryOut(server.opened(key, assigned: nil), rest: rest)
        }
        let taken = Set(idents.values.map(\.salt))
        for line in rest where line.dir == .fromServer {
            guard
                case .ident(_, let file)? = try? ServerMessage(
                    decoding: line.bytes,
                    context: .partitionClient
                ), !taken.contains(file.salt)
            else { continue }
            idents[key] = file
            store.realms[path, default: .init()].files[file.ident] = .init(salt: file.salt)
            return carryOut(server.opened(key, assigned: file), rest: rest)
        }
    }

    private mutating func validate(
        _ key: ServerConnection.SessionKey,
        _ ident: ClientMessage.Ident,
        _ rest: ArraySlice<WireScenario.Line>
    ) {
        guard let path = paths[key] else { return }
        keys[ident.session] = key
        idents[key] = ident.file
        let realm = restored(store.realms[path] ?? .init())
        let file = realm.files[ident.file.ident]
        let check = IdentCheck(
            currentVersion: realm.currentVersion,
            file: file.map {
                IdentCheck.KnownFile(
                    salt: $0.salt,
                    isOfOlderGeneration: false,
                    belongsToUser: true,
                    isExpired: false,
                    upload: $0.upload
                )
            },
            saltOfLatestVersion: realm.salts[ident.latestServerVersion.version]
        )
        do throws(SessionFault) {
            try check.verify(ident)
            carryOut(
                server.identified(
                    key,
                    upload: file?.upload ?? .zero,
                    locked: file?.locked ?? .zero
                ),
                rest: rest
            )
        } catch {
            carryOut(server.fail(key, error, message: "refused"), rest: rest)
        }
    }

    /// The scenarios in which the server's store was replaced by an older one.
    private func restored(_ realm: ReplayedStore.Realm) -> ReplayedStore.Realm {
        var realm = realm
        switch (scenario.name, connection) {
        case ("bad_file_ident", 2):
            return .init()
        case ("server_restored", 3):
            realm.currentVersion = ServerVersion(1)
            realm.files[FileIdent(2)]?.upload = uploadCursor(5, 1)
        case ("diverging_history", 3), ("diverging_history", 4):
            realm.files[FileIdent(2)]?.upload = uploadCursor(5, 1)
        default: break
        }
        return realm
    }
}
