import Changesets
import SyncProtocol
import TestSupport
import Testing
import Versions

@Suite("The server's end of a connection and its sessions")
struct ServerConnectionTests {
    typealias Effect = ServerConnection.Effect

    static func connection(version: Int = 14, limits: Limits = .server) -> ServerConnection {
        ServerConnection(
            subProtocol: SubProtocol(mode: .partitionBased, version: version),
            limits: limits
        )
    }

    static func bind(_ session: SessionIdent, needsFileIdent: Bool = false) -> ClientMessage {
        .bind(.init(session: session, path: "\"p\"", needsFileIdent: needsFileIdent))
    }

    static func ident(
        _ session: SessionIdent,
        _ scan: DownloadCursor = .zero
    ) -> ClientMessage {
        .ident(
            ClientMessage.Ident(
                session: session,
                file: fileIdent(2),
                download: scan,
                latestServerVersion: .zero
            )
        )
    }

    private func opening(_ effects: [Effect]) -> ServerConnection.SessionKey? {
        for effect in effects {
            if case .work(let key, .open) = effect { return key }
        }
        return nil
    }

    /// A connection with one identified session whose first scan is out.
    private func identified(
        upload: UploadCursor = .zero
    ) throws -> (ServerConnection, ServerConnection.SessionKey) {
        var connection = Self.connection()
        let key = try #require(opening(connection.received(Self.bind(1))))
        _ = connection.opened(key, assigned: nil)
        #expect(connection.received(Self.ident(1)).count == 1)
        let effects = connection.identified(key, upload: upload, locked: .zero)
        #expect(effects == [.work(key, .scanDownload(from: .zero))])
        return (connection, key)
    }

    /// The same, with the empty first DOWNLOAD sent.
    private func running() throws -> (ServerConnection, ServerConnection.SessionKey) {
        var (connection, key) = try identified()
        #expect(connection.scanned(key, Self.nothing(at: 0)).map(name) == ["DOWNLOAD"])
        return (connection, key)
    }

    static func nothing(at version: UInt64, client: UInt64 = 0) -> ServerSession.Scanned {
        ServerSession.Scanned(
            changesets: [],
            progress: progress(latest: version, download: (version, client), upload: (client, 0)),
            downloadableBytes: 0
        )
    }

    private func name(_ effect: Effect) -> String {
        switch effect {
        case .send(.jsonError(let report)): "error \(report.code)"
        case .send(let message): message.name
        case .work(_, .open): "open"
        case .work(_, .validate): "validate"
        case .work(_, .integrate): "integrate"
        case .work(_, .scanDownload): "scan"
        case .work(_, .subscribe): "subscribe"
        case .ended: "ended"
        case .close(let code): "close \(code.rawValue)"
        }
    }

    @Test("From BIND to the first DOWNLOAD, sent even though there is nothing")
    func start() throws {
        var connection = Self.connection()
        #expect(connection.opened(connectionID: "c1").map(name) == ["LOG_MESSAGE"])
        let bound = connection.received(Self.bind(1, needsFileIdent: true))
        let key = try #require(opening(bound))
        #expect(bound == [.work(key, .open(path: "\"p\"", needsFileIdent: true))])
        #expect(
            connection.opened(key, assigned: fileIdent(2)) == [.send(.ident(1, fileIdent(2)))]
        )
        #expect(connection.received(Self.ident(1)).map(name) == ["validate"])
        #expect(
            connection.identified(key, upload: .zero, locked: .zero)
                == [.work(key, .scanDownload(from: .zero))]
        )
        #expect(
            connection.scanned(key, Self.nothing(at: 0)) == [
                .send(download(1, progress(latest: 0)))
            ]
        )
    }

    @Test("Messages that arrive while the store works are kept, in order")
    func pipelined() throws {
        var connection = Self.connection()
        let key = try #require(opening(connection.received(Self.bind(1))))
        #expect(connection.received(Self.ident(1)) == [])
        #expect(connection.received(.upload(upload((2, 0), [uploadChangeset(2, 0)]))) == [])
        #expect(connection.received(.mark(1, RequestIdent(2))) == [])
        #expect(connection.opened(key, assigned: nil).map(name) == ["validate"])
        let effects = connection.identified(key, upload: .zero, locked: .zero)
        #expect(effects.map(name) == ["scan", "integrate"])
        // The scan began before the MARK: another one must follow.
        #expect(connection.scanned(key, Self.nothing(at: 0)).map(name) == ["DOWNLOAD", "scan"])
        #expect(
            connection.scanned(key, Self.nothing(at: 1, client: 2)).map(name)
                == ["DOWNLOAD", "MARK"]
        )
    }

    @Test("Kept messages count with their size in memory until they are handled")
    func waitingSize() throws {
        var connection = Self.connection()
        let key = try #require(opening(connection.received(Self.bind(1))))
        #expect(connection.waitingSizeInBytes == 0)
        // On the wire these are empty, in memory they are not.
        let small = (2...1001).map { uploadChangeset($0, 0) }
        _ = connection.received(Self.ident(1))
        _ = connection.received(.upload(upload((1001, 0), small)))
        #expect(connection.waitingSizeInBytes > 32_000)
        _ = connection.opened(key, assigned: nil)
        #expect(connection.waitingSizeInBytes > 32_000)
        _ = connection.identified(key, upload: .zero, locked: .zero)
        #expect(connection.waitingSizeInBytes == 0)

        let other = try #require(opening(connection.received(Self.bind(2))))
        _ = connection.received(.mark(2, RequestIdent(1)))
        _ = connection.received(.unbind(2))
        #expect(connection.waitingSizeInBytes > 0)
        #expect(
            connection.fail(other, .otherError, message: "m").map(name) == ["error 201", "ended"]
        )
        #expect(connection.waitingSizeInBytes == 0)
    }

    @Test("A MARK is answered once a scan that began after it is at the end of history")
    func marks() throws {
        var (connection, key) = try running()
        #expect(connection.received(.mark(1, RequestIdent(1))).map(name) == ["scan"])
        // Not at the end: the rest comes first.
        let part = ServerSession.Scanned(
            changesets: [downloadChangeset(1, 0)],
            progress: progress(latest: 2, download: (1, 0)),
            downloadableBytes: 9
        )
        #expect(connection.scanned(key, part).map(name) == ["DOWNLOAD", "scan"])
        #expect(connection.received(.mark(1, RequestIdent(3))) == [])
        // This one answers the first MARK, the next scan the newer one.
        #expect(
            connection.scanned(key, Self.nothing(at: 2)).map(name) == ["DOWNLOAD", "MARK", "scan"]
        )
        #expect(
            connection.scanned(key, Self.nothing(at: 2)) == [.send(.mark(1, RequestIdent(3)))]
        )
    }

    @Test("History that grows is scanned once at a time")
    func growth() throws {
        var (connection, key) = try running()
        #expect(connection.historyGrew(key, to: ServerVersion(1)).map(name) == ["scan"])
        #expect(connection.historyGrew(key, to: ServerVersion(2)) == [])
        #expect(connection.scanned(key, Self.nothing(at: 1)).map(name) == ["DOWNLOAD", "scan"])
        #expect(connection.scanned(key, Self.nothing(at: 2)).map(name) == ["DOWNLOAD"])
        #expect(connection.historyGrew(key, to: ServerVersion(2)) == [])
    }

    @Test("An empty UPLOAD without effect requests nothing; its progress is recorded")
    func emptyUpload() throws {
        var (connection, key) = try running()
        let admitted = UploadCheck.Admitted(
            changesets: [],
            progress: uploadCursor(3, 0),
            lockedServerVersion: .zero
        )
        #expect(
            connection.received(.upload(upload((3, 0)))) == [.work(key, .integrate([admitted]))]
        )
        #expect(connection.historyGrew(key, to: .zero) == [])
    }

    @Test("UNBIND is answered in every state, and frees the session's ident")
    func unbind() throws {
        var fresh = Self.connection()
        let freshKey = try #require(opening(fresh.received(Self.bind(1, needsFileIdent: true))))
        #expect(fresh.received(.unbind(1)) == [])
        #expect(
            fresh.opened(freshKey, assigned: fileIdent(2)).map(name)
                == ["IDENT", "UNBOUND", "ended"]
        )
        var (connection, key) = try running()
        #expect(connection.received(.unbind(1)).map(name) == ["UNBOUND", "ended"])
        #expect(connection.historyGrew(key, to: ServerVersion(5)) == [])
        #expect(connection.received(Self.bind(1)).map(name) == ["open"])
    }

    @Test("After an error the session ignores all messages, and UNBIND is not answered")
    func failedSession() throws {
        var (connection, key) = try running()
        #expect(
            connection.fail(key, .divergingHistories, message: "m").map(name) == ["error 211"]
        )
        #expect(connection.fail(key, .otherError, message: "m") == [])
        #expect(connection.received(.mark(1, RequestIdent(1))) == [])
        #expect(connection.received(Self.ident(1)) == [])
        #expect(connection.historyGrew(key, to: ServerVersion(5)) == [])
        #expect(connection.received(Self.bind(2)).map(name) == ["open"])
        #expect(connection.received(.unbind(1)).map(name) == ["ended"])
        #expect(connection.received(Self.bind(1)).map(name) == ["open"])
    }

    @Test("Two sessions end independently")
    func twoSessions() throws {
        var (connection, first) = try running()
        let second = try #require(opening(connection.received(Self.bind(2))))
        #expect(connection.received(.unbind(1)).map(name) == ["UNBOUND", "ended"])
        #expect(connection.opened(first, assigned: nil) == [])
        #expect(connection.opened(second, assigned: nil) == [])
        #expect(connection.received(Self.ident(2)).map(name) == ["validate"])
    }

    @Test("An undone write is reported without ending the session")
    func compensation() throws {
        var (connection, key) = try running()
        let fault = SessionFault.compensatingWrite(
            SessionFault.RejectedUpdates(clientVersion: ClientVersion(3), updates: []),
            undoneAt: ServerVersion(4)
        )
        #expect(connection.fail(key, fault, message: "m").map(name) == ["error 231"])
        #expect(connection.historyGrew(key, to: ServerVersion(4)).map(name) == ["scan"])
    }

    @Test("Messages out of order end the connection with their code")
    func order() throws {
        func last(_ effects: [Effect]) -> [String] { effects.map(name) }
        var connection = Self.connection()
        #expect(
            last(connection.received(.mark(3, RequestIdent(1)))) == ["error 106", "close 1000"]
        )
        connection = Self.connection()
        _ = connection.received(Self.bind(1))
        #expect(last(connection.received(Self.bind(1))) == ["error 107", "close 1000"])
        for message in [
            ClientMessage.mark(1, RequestIdent(1)), .upload(upload((1, 0))),
            .query(1, .init(version: .zero, body: "{}")),
        ] {
            var early = Self.connection()
            let key = try #require(opening(early.received(Self.bind(1))))
            _ = early.opened(key, assigned: nil)
            #expect(last(early.received(message)) == ["error 109", "close 1000"])
            #expect(early.received(Self.bind(9)) == [])
        }
        var (running, _) = try running()
        #expect(last(running.received(Self.ident(1))) == ["error 109", "close 1000"])
    }

    @Test("Bytes that are not a message end the connection with their code")
    func malformed() {
        for (text, expected) in [
            ("hello 1\n", ["error 102", "close 1000"]), ("mark 1\n", ["error 103", "close 1000"]),
            ("upload 1 1 67108865 5 5 0 0\nabcde", ["close 1009"]),
        ] {
            var connection = Self.connection()
            #expect(connection.received(Array(text.utf8)).map(name) == expected)
        }
    }

    @Test("Illegal paths, too many sessions and test commands are errors of the session")
    func sessionErrors() throws {
        var connection = Self.connection()
        let path = ClientMessage.Bind(session: 1, path: "", needsFileIdent: false)
        #expect(connection.received(.bind(path)).map(name) == ["error 204"])
        var limits = Limits.server
        limits.sessionsPerConnection = 1
        connection = Self.connection(limits: limits)
        let first = connection.received(Self.bind(1, needsFileIdent: true))
        let key = try #require(opening(first))
        #expect(first.map(name) == ["open"])
        let refused = connection.received(Self.bind(2))
        #expect(refused.map(name) == ["error 201"])
        guard case .send(.jsonError(let report))? = refused.first else {
            Issue.record("\(refused)")
            return
        }
        #expect(report.body.action == .transient)
        #expect(report.body.tryAgain)
        #expect(connection.received(.unbind(2)).map(name) == ["ended"])
        // The others continue.
        #expect(connection.opened(key, assigned: fileIdent(2)) == [.send(.ident(1, fileIdent(2)))])
        var (running, _) = try running()
        let command = ClientMessage.testCommand(1, RequestIdent(1), json: "{}")
        #expect(running.received(command).map(name) == ["error 201"])
    }

    @Test("A client that cannot integrate is told to start over")
    func clientError() throws {
        var (connection, _) = try running()
        let failure = IntegrationFailure(.badChangeset, message: "BadChangeset")
        let report = ClientErrorReport(session: 1, failure: failure)
        let effects = connection.received(.jsonError(report))
        guard case .send(.jsonError(let answer)) = effects.first else {
            Issue.record("\(effects)")
            return
        }
        #expect(answer.code == 217)
        #expect(answer.body.action == .clientReset)
    }

    @Test("An UPLOAD that contradicts itself is an error of the session")
    func badUpload() throws {
        var (connection, _) = try running()
        #expect(connection.received(.upload(upload((3, 7)))).map(name) == ["error 209"])
    }

    @Test("Old clients get no log messages; clients of the other mode are told so")
    func versionsAndModes() {
        var old = Self.connection(version: 9)
        #expect(old.opened(connectionID: "c") == [])
        var flexible = ServerConnection(subProtocol: SubProtocol(mode: .flexible, version: 14))
        #expect(flexible.opened(connectionID: "c").map(name) == ["error 114", "close 1000"])
    }

    @Test("A PING is answered with its own time stamp")
    func ping() {
        var connection = Self.connection()
        #expect(
            connection.received(Array("ping 5023 0\n".utf8))
                == [.send(.pong(timestampInMilliseconds: 5023))]
        )
    }

    @Test("Random messages and answers never trap, and nothing follows the final message")
    func anything() {
        for seed in UInt64(0)..<300 {
            var random = SplitMix64(seed: seed)
            var connection = Self.connection()
            var keys: [ServerConnection.SessionKey] = []
            var isClosed = false
            for _ in 0..<80 {
                let effects = disturb(&connection, keys, using: &random)
                #expect(!isClosed || effects.isEmpty, "seed \(seed)")
                if let key = opening(effects) { keys.append(key) }
                if case .close = effects.last { isClosed = true }
            }
        }
    }

    private func disturb(
        _ connection: inout ServerConnection,
        _ keys: [ServerConnection.SessionKey],
        using random: inout SplitMix64
    ) -> [Effect] {
        func number() -> UInt64 { UInt64.random(in: 0...4, using: &random) }
        let session: SessionIdent = Bool.random(using: &random) ? 1 : 2
        let key = keys.randomElement(using: &random)
        switch (Int.random(in: 0..<40, using: &random), key) {
        case (0..<4, _): return connection.received(.unbind(session))
        case (4, _): return connection.received(.mark(session, RequestIdent(number())))
        case (5, _): return connection.received(Self.ident(session))
        case (6, _):
            let changesets = [uploadChangeset(number(), number())]
            return connection.received(.upload(upload((number(), number()), changesets)))
        case (7, let key?): return connection.fail(key, .otherError, message: "m")
        case (8..<16, let key?): return connection.opened(key, assigned: fileIdent(2))
        case (16..<24, let key?):
            return connection.identified(key, upload: uploadCursor(number(), 0), locked: .zero)
        case (24..<32, let key?): return connection.scanned(key, Self.nothing(at: number()))
        case (32..<38, let key?):
            return connection.historyGrew(key, to: ServerVersion(number()))
        default: return connection.received(Self.bind(session, needsFileIdent: true))
        }
    }
}
