import Changesets
import Coordination
import FoundationEssentials
import LocalRealm
import Logging
import SQLite
import Schemas
import ScriptedPeers
import SyncProtocol
import Synchronization
import TestSupport
import Testing
import Transport
import Versions

@testable import SyncClient

@Suite("A realm on its connection, against a scripted server", .timeLimit(.minutes(10)))
struct UserConnectionTests {
    @Test("A fresh file binds, gets its ident, and a write is uploaded and acknowledged")
    func firstSync() async throws {
        let endpoint = ScriptedEndpoint { server in
            let session = try await server.open(RealmOnConnection.file)
            while true {
                switch try await server.receive() {
                case .upload(let upload):
                    guard !upload.changesets.isEmpty else { continue }
                    let version = upload.progress.clientVersion.rawValue
                    try await server.send(
                        .progress(session, server: 1, client: version, uploaded: version)
                    )
                case .mark(_, let request):
                    try await server.send(.mark(session, request))
                default:
                    continue
                }
            }
        }
        try await RealmOnConnection.withRealm(endpoint) { realm, path in
            try RealmOnConnection.insert(path, 1)
            #expect(await realm.sync(timeout: .seconds(180), .continuous) == .done)
            let snapshot = await realm.snapshot()
            #expect(snapshot.phase == .bound)
            #expect(snapshot.file.fileIdent == RealmOnConnection.file)
            #expect(snapshot.file.isFirstDownloadFinished)
            #expect(snapshot.lastUploaded != nil)
            // What the server has acknowledged covers the schema and the row.
            #expect(snapshot.file.uploadedBytes == snapshot.file.uploadableBytes)
            #expect(snapshot.file.uploadedBytes > 0)
        }
    }

    @Test("Without a server a sync ends at once with the reason, and a later wish tries again")
    func offline() async throws {
        let endpoint = ScriptedEndpoint()
        try await RealmOnConnection.withRealm(endpoint) { realm, _ in
            for _ in 0..<2 {
                let outcome = await realm.sync(timeout: .seconds(180), .continuous)
                #expect(
                    outcome
                        == .offline(
                            reason: "the server cannot be reached: no server is there",
                            code: "connection.failed"
                        )
                )
            }
        }
    }

    @Test("A refused token is replaced, and the next attempt follows without delay")
    func refresh() async throws {
        let endpoint = ScriptedEndpoint(
            { server in await server.stream.close(.unauthorized, reason: "expired") },
            { server in
                let session = try await server.open(RealmOnConnection.file)
                while case .mark(_, let request) = try await server.receive() {
                    try await server.send(.mark(session, request))
                }
                try await server.listen()
            }
        )
        try await RealmOnConnection.withRealm(endpoint) { realm, _ in
            // The back-off is ten minutes: only an immediate attempt can succeed in time.
            try await until { await realm.snapshot().phase == .bound }
            #expect(endpoint.calls == [.refreshToken("token 1")])
        }
    }

    @Test("An error that requires a client reset deactivates the session and is reported")
    func clientReset() async throws {
        let endpoint = ScriptedEndpoint { server in
            guard case .bind(let bind) = try await server.receive() else { return }
            try await server.send(.ident(bind.session, RealmOnConnection.file))
            _ = try await server.receive()
            try await server.send(
                .jsonError(
                    JSONErrorReport(
                        .badClientFileIdent,
                        session: bind.session,
                        message: "unknown file"
                    )
                )
            )
            try await server.listen()
        }
        try await RealmOnConnection.withRealm(endpoint) { realm, path in
            let outcome = await realm.sync(timeout: .seconds(180), .continuous)
            guard case .refused(let issue) = outcome else {
                Issue.record("unexpected \(outcome)")
                return
            }
            #expect(issue.kind == .clientReset)
            #expect(issue.code == "sync.bad_client_file_ident")
            // The file stays writable, and what is written stays captured.
            try RealmOnConnection.insert(path, 5)
            #expect(await realm.sync(timeout: .seconds(180), .continuous) == .refused(issue))
        }
    }

    @Test("The client leaves a server that violates the protocol, and its file is unchanged")
    func violation() async throws {
        let endpoint = ScriptedEndpoint { server in
            guard case .bind(let bind) = try await server.receive() else { return }
            try await server.send(.progress(bind.session, server: 3, client: 0, uploaded: 9))
            try await server.listen()
        }
        try await RealmOnConnection.withRealm(endpoint) { realm, _ in
            let outcome = await realm.sync(timeout: .seconds(180), .continuous)
            guard case .offline = outcome else {
                Issue.record("unexpected \(outcome)")
                return
            }
            #expect(await realm.snapshot().file.progress == .zero)
        }
    }

    @Test("A sync that exceeds its timeout ends with that, and the session continues")
    func timeOut() async throws {
        let endpoint = ScriptedEndpoint { server in
            _ = try await server.open(RealmOnConnection.file)
            try await server.listen()
        }
        try await RealmOnConnection.withRealm(endpoint) { realm, _ in
            try await until { await realm.snapshot().phase == .bound }
            #expect(await realm.sync(timeout: .milliseconds(1), .continuous) == .timedOut())
            #expect(await realm.snapshot().phase == .bound)
        }
    }

    @Test("A program that keeps the file locked delays a sync, and does not end the session")
    func locked() async throws {
        let endpoint = ScriptedEndpoint { server in
            let session = try await server.open(RealmOnConnection.file)
            var newest: UInt64 = 0
            while true {
                switch try await server.receive() {
                case .upload(let upload):
                    guard !upload.changesets.isEmpty else { continue }
                    newest += 1
                    let version = upload.progress.clientVersion.rawValue
                    try await server.send(
                        .progress(session, server: newest, client: version, uploaded: version)
                    )
                case .mark(_, let request): try await server.send(.mark(session, request))
                default: continue
                }
            }
        }
        try await RealmOnConnection.withRealm(
            endpoint,
            busyTimeout: .milliseconds(500)
        ) { realm, path in
            #expect(await realm.sync(timeout: .seconds(180), .continuous) == .done)
            let program = try Connection(path: path)
            try program.execute("INSERT INTO \"Item\"(_id) VALUES (1); BEGIN IMMEDIATE")
            let outcome = await realm.sync(timeout: .seconds(1), .continuous)
            switch outcome {
            case .failed: break
            // The row was taken before the lock came; its answer may have to wait for the lock.
            case .done, .timedOut: break
            default: Issue.record("unexpected \(outcome)")
            }
            #expect(await realm.snapshot().phase == .bound)
            try program.execute("ROLLBACK")
            program.close()
            #expect(await realm.sync(timeout: .seconds(180), .continuous) == .done)
        }
    }

    @Test("Behind a download that cannot be integrated none is, however many wait already")
    func stalledQueue() async throws {
        let reports = Mutex(0)
        let endpoint = ScriptedEndpoint { server in
            let session = try await server.open(RealmOnConnection.file)
            func download(_ version: UInt64, _ bytes: [UInt8]?) -> ServerMessage {
                let progress = SyncProgress(
                    latestServerVersion: SaltedServerVersion(
                        version: ServerVersion(9),
                        salt: Salt(99)
                    ),
                    download: DownloadCursor(
                        serverVersion: ServerVersion(version),
                        lastIntegratedClientVersion: .zero
                    ),
                    upload: .zero
                )
                let changesets = bytes.map { bytes in
                    DownloadChangeset(
                        cursor: progress.download,
                        originTimestamp: OriginTimestamp(1),
                        originFileIdent: FileIdent(9),
                        originalSizeInBytes: UInt64(bytes.count),
                        bytes: bytes
                    )
                }
                return .download(
                    .init(
                        session: session,
                        progress: progress,
                        extent: .partition(downloadableBytes: 0),
                        changesets: changesets.map { [$0] } ?? []
                    )
                )
            }
            // No changeset begins so.
            try await server.send(download(1, [0xff, 0xff]))
            for version in 2...9 as ClosedRange<UInt64> {
                try await server.send(download(version, nil))
            }
            while true {
                if case .jsonError = try await server.receive() {
                    reports.withLock { $0 += 1 }
                }
            }
        }
        try await RealmOnConnection.withRealm(endpoint) { realm, _ in
            try await until { reports.withLock { $0 } == 1 }
            // Asked behind all that waits.
            _ = await realm.durableVersion()
            let progress = await realm.snapshot().file.progress
            #expect(progress.download.serverVersion == .zero)
        }
    }

    @Test(
        "A download whose merge takes several transactions counts as one download for all observers"
    )
    func slicedDownload() async throws {
        let isWritten = Mutex(false)
        let uploads = Mutex(0)
        let news = Mutex<[RealmClientEvent]>([])
        let endpoint = ScriptedEndpoint { server in
            let session = try await server.open(RealmOnConnection.file)
            while true {
                guard case .upload = try await server.receive() else { continue }
                uploads.withLock { $0 += 1 }
                guard isWritten.withLock({ $0 }) else { continue }
                try await server.send(Self.updates(of: session))
                try await server.listen()
            }
        }
        try await RealmOnConnection.with(
            endpoint,
            mergeLimitInPairs: 0,
            report: { item in news.withLock { $0.append(item) } }
        ) { realm, _, path in
            try await until { await realm.snapshot().phase == .bound }
            // The schema goes up on its own: the server must not take it for the row.
            try await until { uploads.withLock { $0 } > 0 }
            isWritten.withLock { $0 = true }
            try RealmOnConnection.insert(path, 1)
            try await until {
                await realm.snapshot().file.progress.download.serverVersion == ServerVersion(5)
            }
            try await until { news.withLock { $0.contains { $0.integratedChangesets != nil } } }
            #expect(news.withLock { $0.compactMap(\.integratedChangesets) } == [5])
            let rows = try Connection(path: path).rows("SELECT note FROM Item")
            #expect(rows == [["note 5"]])
        }
    }

    /// Five changesets about what the client has not uploaded.
    private static func updates(of session: SessionIdent) -> ServerMessage {
        let changesets = (1...5).map { (version: UInt64) in
            var writer = ChangesetWriter()
            writer.update(
                ObjectReference(className: "Item", key: .int(1)),
                "note",
                to: .scalar(.string(Text("note \(version)")))
            )
            return DownloadChangeset(
                cursor: DownloadCursor(
                    serverVersion: ServerVersion(version),
                    lastIntegratedClientVersion: .zero
                ),
                originTimestamp: OriginTimestamp((1 << 50) + version),
                originFileIdent: FileIdent(9),
                originalSizeInBytes: UInt64(writer.bytes.count),
                bytes: writer.bytes
            )
        }
        return .download(
            .init(
                session: session,
                progress: SyncProgress(
                    latestServerVersion: SaltedServerVersion(
                        version: ServerVersion(5),
                        salt: Salt(99)
                    ),
                    download: changesets[4].cursor,
                    upload: .zero
                ),
                extent: .partition(downloadableBytes: 0),
                changesets: changesets
            )
        )
    }

    @Test(
        "A realm that leaves sends UNBIND, and returns under another ident on the same connection"
    )
    func leaveAndJoin() async throws {
        let heard = Mutex<[String]>([])
        let endpoint = ScriptedEndpoint { server in
            var hasIdent = false
            while true {
                switch try await server.receive() {
                case .bind(let bind):
                    heard.withLock { $0.append("BIND \(bind.session.rawValue)") }
                    if !hasIdent {
                        try await server.send(.ident(bind.session, RealmOnConnection.file))
                    }
                    hasIdent = true
                case .ident(let ident):
                    try await server.send(
                        .progress(ident.session, server: 0, client: 0, uploaded: 0)
                    )
                case .mark(let session, let request):
                    try await server.send(.mark(session, request))
                case .unbind(let session):
                    heard.withLock { $0.append("UNBIND \(session.rawValue)") }
                    try await server.send(.unbound(session))
                default: continue
                }
            }
        }
        try await RealmOnConnection.with(endpoint) { realm, connection, path in
            try await until { await realm.snapshot().phase == .bound }
            await connection.leave(realm)
            #expect(await realm.snapshot().phase == .detached)
            try await until { heard.withLock({ $0.count }) >= 2 }
            // What is written meanwhile is captured, and goes up later.
            try RealmOnConnection.insert(path, 9)
            await connection.join(realm)
            try await until { await realm.snapshot().phase == .bound }
            try await until { heard.withLock({ $0.count }) >= 3 }
            #expect(heard.withLock { $0 } == ["BIND 1", "UNBIND 1", "BIND 2"])
        }
    }

    @Test("Waiting outlasts a missing server, ends with the answer, and needs none without writes")
    func waiting() async throws {
        let mayAnswer = Signal()
        let endpoint = ScriptedEndpoint(
            { _ in },
            { server in
                let session = try await server.open(RealmOnConnection.file)
                var isSilent = true
                while true {
                    switch try await server.receive() {
                    case .upload(let upload):
                        guard !upload.changesets.isEmpty else { continue }
                        // The schema and the row may come one after the other.
                        if isSilent { await mayAnswer.wait() }
                        isSilent = false
                        let version = upload.progress.clientVersion.rawValue
                        try await server.send(
                            .progress(session, server: 1, client: version, uploaded: version)
                        )
                    case .mark(_, let request): try await server.send(.mark(session, request))
                    default: continue
                    }
                }
            }
        )
        try await RealmOnConnection.withRealm(
            endpoint,
            reconnect: .init(initial: .milliseconds(1))
        ) { realm, path in
            try RealmOnConnection.insert(path, 1)
            async let outcome = realm.wait(
                for: [.upload, .download],
                timeout: .seconds(60),
                .continuous
            )
            let progress = await realm.progress(.upload, .outstanding)
            mayAnswer.raise()
            #expect(await outcome == .done)
            #expect(await !realm.hasPendingUploads())
            var last: TransferProgress?
            for await report in progress { last = report }
            #expect(last?.estimate == 1)
        }
        try await RealmOnConnection.withRealm(ScriptedEndpoint()) { realm, _ in
            // The schema is waiting to go up, so this takes as long as it may.
            let outcome = await realm.wait(
                for: [.upload],
                timeout: .milliseconds(1),
                .continuous
            )
            guard case .timedOut = outcome else {
                Issue.record("unexpected \(outcome)")
                return
            }
            #expect(await realm.wait(for: [], timeout: nil, .continuous) == .done)
        }
    }

    @Test("While a server is tried again, the realm and a wait that ends tell why it is")
    func anotherAttempt() async throws {
        let endpoint = ScriptedEndpoint(nil, { _ in try await Task.sleep(for: .seconds(600)) })
        try await RealmOnConnection.withRealm(
            endpoint,
            reconnect: .init(initial: .milliseconds(1))
        ) { realm, _ in
            let reason = "the server cannot be reached: no server is there"
            let isTold = await eventually {
                guard endpoint.tokens.count == 2,
                    case .connecting(after: let cause) = await realm.snapshot().phase
                else { return false }
                return cause.reason == reason
            }
            #expect(isTold)
            let outcome = await realm.wait(for: [.download], timeout: .milliseconds(1), .continuous)
            guard case .timedOut(let cause) = outcome else {
                Issue.record("unexpected \(outcome)")
                return
            }
            #expect(cause.reason == reason)
            #expect(cause.code == "connection.failed")
        }
    }

    @Test("Closed because a message was too big, every realm of the connection needs a reset")
    func messageTooBig() async throws {
        let endpoint = ScriptedEndpoint { server in
            _ = try await server.open(RealmOnConnection.file)
            await server.stream.close(.messageTooBig, reason: "too big")
        }
        try await RealmOnConnection.withRealm(endpoint) { realm, _ in
            try await until { await realm.snapshot().phase.isRefused }
            let outcome = await realm.wait(for: [.download], timeout: .seconds(60), .continuous)
            guard case .refused(let issue) = outcome else {
                Issue.record("unexpected \(outcome)")
                return
            }
            #expect(issue.kind == .clientReset)
            #expect(issue.code == "connection.message_too_big")
        }
    }
}

extension SessionPhase {
    fileprivate var isRefused: Bool {
        if case .inactive = self { true } else { false }
    }
}

extension RealmClientEvent {
    fileprivate var integratedChangesets: Int? {
        if case .integrated(let count, _, _) = self { count } else { nil }
    }
}
