import Changesets
import SyncProtocol
import TestSupport
import Testing
import Versions

/// The client's order of UPLOAD, QUERY and MARK, and its bootstraps (flexible sync, 5 and 6).
@Suite("Client sessions of flexible sync")
struct FlexibleClientSessionTests {
    private static func query(_ version: UInt64) -> ClientMessage.Query {
        ClientMessage.Query(version: QueryVersion(version), body: "{}")
    }

    private static func sets(
        active: UInt64,
        isAwaitingMark: Bool = false,
        pending: (version: UInt64, snapshot: UInt64)...
    ) -> SessionSubscriptions {
        SessionSubscriptions(
            active: query(active),
            isAwaitingMark: isAwaitingMark,
            pending: pending.map {
                .init(query: query($0.version), snapshotVersion: ClientVersion($0.snapshot))
            }
        )
    }

    private static let start = progress(latest: 3, download: (3, 2), upload: (2, 1))

    /// A session that has sent IDENT.
    private static func running(
        _ subscriptions: SessionSubscriptions,
        localVersion: UInt64 = 2,
        activation: ClientSession.UploadActivation = .immediate
    ) -> ClientSession {
        var session = ClientSession(
            ident: 1,
            path: "{}",
            fileIdent: fileIdent(2),
            progress: start,
            localVersion: ClientVersion(localVersion),
            uploadActivation: activation,
            subscriptions: subscriptions
        )
        session.connected(isFastReconnect: false)
        _ = session.nextStep()
        #expect(session.nextStep().flatMap(Self.ident)?.query == subscriptions.active)
        return session
    }

    private static func ident(_ step: ClientSession.Step) -> ClientMessage.Ident? {
        if case .send(.ident(let ident)) = step { ident } else { nil }
    }

    private static func message(
        _ version: UInt64,
        _ state: ServerMessage.BatchState,
        _ progress: SyncProgress = start,
        _ changesets: [DownloadChangeset] = []
    ) -> ServerMessage {
        .download(
            ServerMessage.Download(
                session: 1,
                progress: progress,
                extent: .query(QueryVersion(version), state, .complete),
                changesets: changesets
            )
        )
    }

    /// The names of the next steps, scans answered with one changeset each.
    private static func steps(_ session: inout ClientSession) -> [String] {
        var names: [String] = []
        while let step = session.nextStep() {
            switch step {
            case .send(.query(_, let query)): names.append("QUERY \(query.version.rawValue)")
            case .send(.upload(let upload)):
                names.append("UPLOAD \(upload.progress.clientVersion.rawValue)")
            case .send(let message): names.append(message.name)
            case .scanUploads(let scan):
                session.uploadScanned(
                    scan,
                    UploadBatch(
                        changesets: [uploadChangeset(scan.end.rawValue, 3)],
                        progress: uploadCursor(scan.end.rawValue, 3),
                        lockedServerVersion: ServerVersion(3)
                    )
                )
            }
        }
        return names
    }

    /// Receives a message of a bootstrap, and answers as the file does.
    private static func bootstrap(
        _ session: inout ClientSession,
        _ message: ServerMessage,
        then sets: SessionSubscriptions? = nil,
        _ progress: SyncProgress = start
    ) -> [ClientSession.Effect] {
        guard case .integrate(let download) = session.received(message).first else { return [] }
        if let sets { session.subscriptionsChanged(sets) }
        return session.integrated(download.part, progress, localVersion: ClientVersion(9))
    }

    @Test("A QUERY follows what was written before its set, and precedes what was written after")
    func order() {
        var session = Self.running(
            Self.sets(active: 0, pending: (1, 4), (2, 6)),
            localVersion: 9
        )
        #expect(
            Self.steps(&session)
                == ["UPLOAD 4", "QUERY 1", "MARK", "UPLOAD 6", "QUERY 2", "MARK", "UPLOAD 9"]
        )
    }

    @Test("A set that is committed later holds back only what follows it")
    func committedLater() {
        var session = Self.running(Self.sets(active: 1), localVersion: 5)
        #expect(Self.steps(&session) == ["UPLOAD 5"])
        session.subscriptionsChanged(Self.sets(active: 1, pending: (2, 7)))
        session.localVersionAvailable(ClientVersion(8))
        #expect(Self.steps(&session) == ["UPLOAD 7", "QUERY 2", "MARK", "UPLOAD 8"])
    }

    @Test(
        "Neither is sent before everything is downloaded; a copy that never uploads sends QUERY at once"
    )
    func held() {
        var held = Self.running(
            Self.sets(active: 0, pending: (1, 2)),
            localVersion: 2,
            activation: .afterDownload
        )
        #expect(Self.steps(&held) == ["MARK"])
        #expect(held.received(.mark(1, RequestIdent(1))) == [.downloadCompleted])
        #expect(Self.steps(&held) == ["QUERY 1", "MARK"])
        var copy = Self.running(
            Self.sets(active: 0, pending: (1, 2)),
            localVersion: 7,
            activation: .never
        )
        #expect(Self.steps(&copy) == ["QUERY 1", "MARK"])
    }

    @Test("A set completes with the MARK behind its bootstrap, also at a version that is known")
    func completion() {
        var session = Self.running(Self.sets(active: 0, pending: (1, 2)))
        #expect(Self.steps(&session) == ["QUERY 1", "MARK"])
        let effects = session.received(Self.message(1, .lastOfBootstrap))
        #expect(session.received(.mark(1, RequestIdent(1))) == [])
        guard case .integrate(let download) = effects.first else {
            Issue.record("\(effects)")
            return
        }
        #expect(
            download.part
                == .bootstrap(QueryVersion(1), isFirst: true, isLast: true, .complete)
        )
        session.subscriptionsChanged(Self.sets(active: 1, isAwaitingMark: true))
        #expect(
            session.integrated(download.part, Self.start, localVersion: ClientVersion(3))
                == [.downloadCompleted]
        )
    }

    @Test("The first message on each connection replaces what an earlier one has left")
    func firstMessage() {
        var session = Self.running(Self.sets(active: 0, pending: (1, 2)))
        _ = Self.steps(&session)
        func isFirst(_ message: ServerMessage) -> Bool? {
            guard case .integrate(let download) = session.received(message).first,
                case .bootstrap(_, let isFirst, _, _) = download.part
            else { return nil }
            _ = session.integrated(download.part, Self.start, localVersion: ClientVersion(3))
            return isFirst
        }
        #expect(isFirst(Self.message(1, .moreToCome)) == true)
        #expect(isFirst(Self.message(1, .moreToCome)) == false)
        session.disconnected()
        session.connected(isFastReconnect: true)
        _ = session.nextStep()
        _ = session.nextStep()
        // The set is sent again.
        #expect(Self.steps(&session).contains("QUERY 1"))
        #expect(isFirst(Self.message(1, .moreToCome)) == true)
        #expect(isFirst(Self.message(1, .lastOfBootstrap)) == false)
    }

    @Test("Nothing is uploaded while a bootstrap is applied")
    func noUploads() {
        var session = Self.running(Self.sets(active: 1))
        let effects = session.received(Self.message(1, .lastOfBootstrap))
        session.localVersionAvailable(ClientVersion(5))
        #expect(session.nextStep() == nil)
        guard case .integrate(let download) = effects.first else { return }
        _ = session.integrated(download.part, Self.start, localVersion: ClientVersion(5))
        #expect(Self.steps(&session) == ["UPLOAD 5"])
    }

    @Test("An active set without its MARK asks for one on the next connection")
    func awaitingMark() {
        var session = Self.running(Self.sets(active: 1, isAwaitingMark: true))
        #expect(Self.steps(&session) == ["MARK"])
    }

    @Test("A QUERY_ERROR is stored, and the session continues with the next set")
    func queryError() {
        var session = Self.running(Self.sets(active: 0, pending: (1, 2)))
        _ = Self.steps(&session)
        let error = ServerMessage.QueryError(code: 226, message: "no", version: QueryVersion(1))
        #expect(session.received(.queryError(1, error)) == [.storeQueryError(error)])
        session.subscriptionsChanged(Self.sets(active: 0, pending: (2, 2)))
        session.queryErrorStored()
        #expect(Self.steps(&session) == ["QUERY 2", "MARK"])
    }

    @Test("Messages about sets that are complete or not stored break the protocol")
    func violations() {
        func closes(_ message: ServerMessage) -> Bool {
            var session = Self.running(Self.sets(active: 1, pending: (3, 2)))
            if case .close = session.received(message).first { return true }
            return false
        }
        func error(_ version: UInt64) -> ServerMessage {
            .queryError(1, .init(code: 226, message: "", version: QueryVersion(version)))
        }
        #expect(closes(error(1)) && closes(error(2)) && closes(error(9)) && !closes(error(3)))
        #expect(closes(Self.message(2, .moreToCome)))
        #expect(!closes(Self.message(1, .moreToCome)) && !closes(Self.message(3, .moreToCome)))
        // Synthetic parts share versions, which never go back.
        let more = progress(latest: 5, download: (5, 2), upload: (2, 1))
        let equal = [downloadChangeset(5, 2), downloadChangeset(5, 2)]
        #expect(!closes(Self.message(1, .steady, more, equal)))
        let back = [downloadChangeset(5, 2), downloadChangeset(4, 2)]
        #expect(closes(Self.message(1, .steady, more, back)))
        #expect(closes(download(1, more)), "a message of a partition")
    }
}
