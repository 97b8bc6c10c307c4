import Changesets
import SyncProtocol
import Testing
import Versions

/// The server's end of a session of flexible sync, with the store's results given.
@Suite("The server's end of a flexible session")
struct FlexibleServerSessionTests {
    typealias Effect = ServerConnection.Effect

    private static func connection(version: Int = 14) -> ServerConnection {
        ServerConnection(
            subProtocol: SubProtocol(mode: .flexible, version: version),
            appMode: .flexible
        )
    }

    private static func query(_ version: UInt64, _ body: Text = "{}") -> ClientMessage.Query {
        ClientMessage.Query(version: QueryVersion(version), body: body)
    }

    private static let bind = ClientMessage.bind(
        .init(session: 1, path: #"{"schemaVersion":0,"sessionReason":0}"#, needsFileIdent: false)
    )

    private static func ident(at cursor: DownloadCursor = .zero) -> ClientMessage {
        .ident(
            .init(
                session: 1,
                file: SaltedFileIdent(ident: FileIdent(2), salt: Salt(7)),
                download: cursor,
                latestServerVersion: .zero,
                query: query(0)
            )
        )
    }

    private static func upload(_ version: UInt64) -> ClientMessage {
        .upload(
            .init(
                session: 1,
                progress: uploadCursor(version, 0),
                lockedServerVersion: .zero,
                changesets: [uploadChangeset(version, 0)]
            )
        )
    }

    private static func part(
        _ version: UInt64,
        at server: UInt64,
        isLast: Bool = true
    ) -> ServerSession.BootstrapPart {
        .init(
            query: QueryVersion(version),
            changesets: [downloadChangeset(server, 0, origin: 1)],
            progress: progress(latest: server, download: (server, 0)),
            estimate: .none,
            isLast: isLast
        )
    }

    private static func scanned(
        _ version: UInt64,
        changesets: [DownloadChangeset] = [],
        upload: (UInt64, UInt64) = (0, 0)
    ) -> ServerSession.Scanned {
        .init(
            changesets: changesets,
            progress: progress(latest: version, download: (version, 0), upload: upload),
            downloadableBytes: 0
        )
    }

    /// The part of an effect that the tests compare.
    private static func name(_ effect: Effect) -> String {
        switch effect {
        case .send(.jsonError(let report)): return "error \(report.code)"
        case .send(.queryError(_, let error)): return "QUERY_ERROR \(error.version.rawValue)"
        case .send(.mark(_, let request)): return "MARK \(request.rawValue)"
        case .send(.download(let download)):
            guard case .query(let version, let state, _) = download.extent else { return "PBS" }
            return "DOWNLOAD \(version.rawValue) \(state)"
        case .send(let message): return message.name
        case .work(_, .open): return "open"
        case .work(_, .validate): return "validate"
        case .work(_, .integrate): return "integrate"
        case .work(_, .scanDownload): return "scan"
        case .work(_, .subscribe(let query)): return "subscribe \(query.version.rawValue)"
        case .ended: return "ended"
        case .close: return "close"
        }
    }

    /// A session in a state, and its key.
    private enum Stage: CaseIterable {
        case opening, awaitingIdent, validating, bootstrapping, running, subscribing, failed
    }

    private func session(
        in stage: Stage
    ) throws -> (ServerConnection, ServerConnection.SessionKey) {
        var connection = Self.connection()
        let effects = connection.received(Self.bind)
        guard case .work(let key, .open)? = effects.first else { throw Unexpected() }
        if stage == .opening { return (connection, key) }
        _ = connection.opened(key, assigned: nil)
        if stage == .awaitingIdent { return (connection, key) }
        _ = connection.received(Self.ident())
        if stage == .validating { return (connection, key) }
        _ = connection.identified(key, upload: .zero, locked: .zero, needsBootstrap: true)
        if stage == .bootstrapping { return (connection, key) }
        _ = connection.beginSubscription(key)
        _ = connection.bootstrapped(key, Self.part(0, at: 1))
        if stage == .running { return (connection, key) }
        if stage == .subscribing {
            _ = connection.received(.query(1, Self.query(1)))
            return (connection, key)
        }
        _ = connection.fail(key, .otherError, message: "")
        return (connection, key)
    }

    private struct Unexpected: Error {}

    @Test("Each message in each state")
    func table() throws {
        let messages: [(String, ClientMessage)] = [
            ("IDENT", Self.ident()), ("QUERY", .query(1, Self.query(5))),
            ("UPLOAD", Self.upload(3)), ("MARK", .mark(1, RequestIdent(1))), ("UNBIND", .unbind(1)),
        ]
        var found: [String] = []
        for stage in Stage.allCases {
            for (name, message) in messages {
                var (connection, _) = try session(in: stage)
                let effects = connection.received(message).map(Self.name)
                found.append("\(stage) \(name): \(effects.joined(separator: ", "))")
            }
        }
        let outOfOrder = "error 109, close"
        #expect(
            found == [
                // Until the store answers, messages wait.
                "opening IDENT: ", "opening QUERY: ", "opening UPLOAD: ", "opening MARK: ",
                "opening UNBIND: ",
                "awaitingIdent IDENT: validate", "awaitingIdent QUERY: \(outOfOrder)",
                "awaitingIdent UPLOAD: \(outOfOrder)", "awaitingIdent MARK: \(outOfOrder)",
                "awaitingIdent UNBIND: UNBOUND, ended",
                "validating IDENT: ", "validating QUERY: ", "validating UPLOAD: ",
                "validating MARK: ", "validating UNBIND: ",
                // Steps are carried out in order: uploads before and behind a QUERY have their views.
                "bootstrapping IDENT: \(outOfOrder)", "bootstrapping QUERY: subscribe 5",
                "bootstrapping UPLOAD: integrate", "bootstrapping MARK: ",
                "bootstrapping UNBIND: UNBOUND, ended",
                "running IDENT: \(outOfOrder)", "running QUERY: subscribe 5",
                "running UPLOAD: integrate", "running MARK: scan",
                "running UNBIND: UNBOUND, ended",
                "subscribing IDENT: \(outOfOrder)", "subscribing QUERY: subscribe 5",
                "subscribing UPLOAD: integrate", "subscribing MARK: ",
                "subscribing UNBIND: UNBOUND, ended",
                "failed IDENT: ", "failed QUERY: ", "failed UPLOAD: ", "failed MARK: ",
                "failed UNBIND: ended",
            ]
        )
    }

    @Test("Clients of the other mode are told which one the app has")
    func wrongMode() {
        var partition = ServerConnection(
            subProtocol: SubProtocol(mode: .partitionBased, version: 14),
            appMode: .flexible
        )
        #expect(partition.opened(connectionID: "1").map(Self.name) == ["error 113", "close"])
        var flexible = ServerConnection(
            subProtocol: SubProtocol(mode: .flexible, version: 14),
            appMode: .partitionBased
        )
        #expect(flexible.opened(connectionID: "1").map(Self.name) == ["error 114", "close"])
    }

    @Test("A path that is not a JSON object is refused")
    func badPath() {
        var connection = Self.connection()
        let bind = ClientMessage.bind(.init(session: 1, path: "\"p\"", needsFileIdent: true))
        #expect(connection.received(bind).map(Self.name) == ["error 204"])
    }

    @Test("A MARK behind a QUERY is answered after the bootstrap and what follows it")
    func markBehindQuery() throws {
        var (connection, key) = try session(in: .running)
        #expect(connection.received(.query(1, Self.query(1))).map(Self.name) == ["subscribe 1"])
        #expect(connection.received(.mark(1, RequestIdent(4))).isEmpty)
        #expect(connection.beginSubscription(key) == downloadCursor(1, 0))
        // Other clients write meanwhile.
        #expect(connection.historyGrew(key, to: ServerVersion(9)).isEmpty)
        let history = Self.scanned(2, changesets: [downloadChangeset(2, 0)])
        #expect(connection.scanned(key, history).map(Self.name) == ["DOWNLOAD 0 steady"])
        let first = connection.bootstrapped(key, Self.part(1, at: 3, isLast: false))
        #expect(first.map(Self.name) == ["DOWNLOAD 1 moreToCome"])
        let last = connection.bootstrapped(key, Self.part(1, at: 3))
        #expect(last.map(Self.name) == ["DOWNLOAD 1 lastOfBootstrap", "scan"])
        let caughtUp = connection.scanned(
            key,
            Self.scanned(9, changesets: [downloadChangeset(8, 0)])
        )
        #expect(caughtUp.map(Self.name) == ["DOWNLOAD 1 steady", "MARK 4"])
    }

    @Test("A refused QUERY is answered, its MARK too, and the session continues with its view")
    func refusedQuery() throws {
        var (connection, key) = try session(in: .subscribing)
        #expect(connection.received(.mark(1, RequestIdent(2))).isEmpty)
        _ = connection.beginSubscription(key)
        let effects = connection.refused(key, QueryVersion(1), message: "no such field")
        #expect(effects.map(Self.name) == ["QUERY_ERROR 1", "scan"])
        let changeset = downloadChangeset(2, 0)
        #expect(
            connection.scanned(key, Self.scanned(2, changesets: [changeset])).map(Self.name) == [
                "DOWNLOAD 0 steady", "MARK 2",
            ]
        )
    }

    @Test("A refused query of an IDENT ends the session")
    func refusedIdent() throws {
        var (connection, key) = try session(in: .bootstrapping)
        let effects = connection.refused(key, QueryVersion(0), message: "no such field")
        #expect(effects.map(Self.name) == ["error 226"])
    }

    @Test("A QUERY whose version is not newer ends the session")
    func oldQuery() throws {
        for version in [UInt64(0), 1] {
            var (connection, _) = try session(in: .subscribing)
            let effects = connection.received(.query(1, Self.query(version)))
            #expect(effects.map(Self.name) == ["error 201"])
            guard case .send(.jsonError(let report))? = effects.first else { throw Unexpected() }
            #expect(report.body.action == .applicationBug)
            #expect(!report.body.tryAgain)
        }
    }

    @Test("A scan without changes for the view makes no message, but moves on")
    func silence() throws {
        var (connection, key) = try session(in: .running)
        #expect(connection.historyGrew(key, to: ServerVersion(5)).map(Self.name) == ["scan"])
        #expect(connection.scanned(key, Self.scanned(5)).isEmpty)
        guard
            case .work(_, .scanDownload(let cursor))? =
                connection.historyGrew(key, to: ServerVersion(6)).first
        else { throw Unexpected() }
        #expect(cursor == downloadCursor(5, 0))
        // An acknowledgement, and a long silence, are worth a message.
        let acknowledged = Self.scanned(6, upload: (3, 0))
        #expect(connection.scanned(key, acknowledged).map(Self.name) == ["DOWNLOAD 0 steady"])
        _ = connection.historyGrew(key, to: ServerVersion(2000))
        let late = Self.scanned(2000, upload: (3, 0))
        #expect(connection.scanned(key, late).map(Self.name) == ["DOWNLOAD 0 steady"])
    }

    @Test("Clients below version 12 get an integer as the estimate")
    func oldEstimate() throws {
        var connection = Self.connection(version: 11)
        guard case .work(let key, .open)? = connection.received(Self.bind).first else {
            throw Unexpected()
        }
        _ = connection.opened(key, assigned: nil)
        _ = connection.received(Self.ident())
        _ = connection.identified(key, upload: .zero, locked: .zero, needsBootstrap: true)
        _ = connection.beginSubscription(key)
        guard
            case .send(.download(let download))? =
                connection.bootstrapped(key, Self.part(0, at: 1)).first
        else { throw Unexpected() }
        #expect(download.extent == .query(QueryVersion(0), .lastOfBootstrap, .none))
    }
}
