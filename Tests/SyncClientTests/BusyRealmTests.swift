import Changesets
import Dispatch
import FaultInjection
import FoundationEssentials
import LocalRealm
import Logging
import SQLite
import ScriptedPeers
import SyncProtocol
import Synchronization
import TestSupport
import Testing
import Versions

@testable import SyncClient

/// A realm whose file is busy for long, beside another one of the same user.
@Suite("A busy realm does not delay others", .timeLimit(.minutes(10)))
struct BusyRealmTests {
    /// Stops the work of one realm's executor until it is opened.
    private final class Gate: Sendable {
        private let isClosed = Atomic(false)
        private let semaphore = DispatchSemaphore(value: 0)

        func close() { isClosed.store(true, ordering: .relaxed) }

        func open() {
            isClosed.store(false, ordering: .relaxed)
            semaphore.signal()
        }

        var environment: RealmEnvironment {
            var environment = RealmEnvironment.process
            environment.executor = { label in
                let thread = DispatchQueue(label: label)
                let isRealm = label.hasPrefix("realm ")
                return DatabaseExecutor { work in
                    thread.async {
                        if isRealm, self.isClosed.load(ordering: .relaxed) { self.semaphore.wait() }
                        work()
                    }
                }
            }
            return environment
        }
    }

    /// The messages that a server has received.
    private final class Received: Sendable {
        private let state = Mutex((uploads: [SessionIdent: Int](), pings: 0))

        var pings: Int { state.withLock(\.pings) }
        var uploads: [SessionIdent: Int] { state.withLock(\.uploads) }

        func addPing() { state.withLock { $0.pings += 1 } }

        func addUpload(_ session: SessionIdent) {
            state.withLock { $0.uploads[session, default: 0] += 1 }
        }
    }

    /// A server that acknowledges what it gets, to its session or to all, and counts it.
    private static func endpoint(
        _ received: Received,
        tellsAll: Bool
    ) -> ScriptedEndpoint {
        ScriptedEndpoint { server in
            var uploaded: [SessionIdent: UInt64] = [:]
            while let message = try await server.receiveAny() {
                switch message {
                case .ping(let ping):
                    received.addPing()
                    let timestamp = ping.timestampInMilliseconds
                    try await server.send(.pong(timestampInMilliseconds: timestamp))
                case .bind(let bind) where bind.needsFileIdent:
                    let ident = FileIdent(bind.session.rawValue + 6)
                    let file = SaltedFileIdent(ident: ident, salt: Salt(1234))
                    try await server.send(.ident(bind.session, file))
                case .ident(let ident):
                    try await server.send(
                        .progress(ident.session, server: 0, client: 0, uploaded: 0)
                    )
                case .mark(let session, let request):
                    try await server.send(.mark(session, request))
                case .upload(let upload):
                    received.addUpload(upload.session)
                    uploaded[upload.session] = upload.progress.clientVersion.rawValue
                    // The busy one has something to integrate, too.
                    for (session, version) in uploaded
                    where tellsAll || session == upload.session {
                        try await server.send(
                            .progress(session, server: 0, client: 0, uploaded: version)
                        )
                    }
                default: continue
                }
            }
        }
    }

    /// Two realms of one user on one connection; the gate stops the work of the busy one.
    private static func withRealms(
        _ endpoint: ScriptedEndpoint,
        _ gate: Gate,
        _ body: (
            _ busy: RealmClient,
            _ quick: RealmClient,
            _ paths: (busy: String, quick: String)
        ) async throws -> Void
    ) async throws {
        let directory = try TemporaryDirectory()
        let logger = Logger(label: "test") { _ in SwiftLogNoOpLogHandler() }
        let paths = (busy: directory.file("busy.sqlite"), quick: directory.file("quick.sqlite"))
        let busy = try await RealmOnConnection.open(
            paths.busy,
            time: .continuous,
            busyTimeout: .seconds(5),
            environment: gate.environment,
            { _ in },
            logger
        )
        let quick = try await RealmOnConnection.open(
            paths.quick,
            time: .continuous,
            busyTimeout: .seconds(5),
            { _ in },
            logger
        )
        let connection = UserConnection(
            endpoint: endpoint,
            timing: ConnectionTiming(pingPeriod: .milliseconds(20)),
            reconnect: .init(initial: .seconds(600)),
            time: .continuous,
            random: SplitMix64(seed: 2),
            logger: logger
        )
        try await withThrowingTaskGroup { group in
            await connection.join(busy)
            await connection.join(quick)
            group.addTask { await connection.run() }
            for realm in [busy, quick] {
                group.addTask { try await connection.run(realm, joins: false) }
            }
            defer { group.cancelAll() }
            try await body(busy, quick, paths)
        }
        for realm in [busy, quick] { await realm.close() }
        withExtendedLifetime(directory) {}
    }

    @Test("Its connection answers, the other realm syncs, and its own status is there at once")
    func busy() async throws {
        let received = Received()
        let gate = Gate()
        let endpoint = Self.endpoint(received, tellsAll: true)
        try await Self.withRealms(endpoint, gate) { busy, quick, paths in
            for realm in [busy, quick] {
                try await until { await realm.snapshot().standing.hasCompleted }
            }
            gate.close()
            // Work that its thread does not come back from.
            try RealmOnConnection.insert(paths.busy, 1)
            for id in 1...20 {
                let pings = received.pings
                try RealmOnConnection.insert(paths.quick, id)
                #expect(await quick.sync(timeout: .seconds(180), .continuous) == .done)
                #expect(await busy.snapshot().phase == .bound)
                try await until { received.pings > pings }
            }
            gate.open()
            #expect(await busy.sync(timeout: .seconds(180), .continuous) == .done)
        }
        #expect(received.uploads.count == 2)
        #expect(endpoint.tokens.count == 1)
    }

    private final class Flag: Sendable {
        private let value = Atomic(false)

        var isRaised: Bool { value.load(ordering: .acquiring) }

        func raise() { value.store(true, ordering: .releasing) }
    }

    /// More than a realm may have to do at once, in messages of a megabyte.
    private static let floodInMessages = 20

    /// The message of a flood with that number: an object with a large value.
    private static func flood(
        _ number: Int,
        _ session: SessionIdent,
        uploaded: UInt64,
        _ value: Text
    ) -> ServerMessage {
        var writer = ChangesetWriter()
        let object = ObjectReference(className: "Item", key: .int(Int64(number)))
        writer.createObject(object)
        writer.update(object, "note", to: .scalar(.string(value)))
        let cursor = DownloadCursor(
            serverVersion: ServerVersion(UInt64(number)),
            lastIntegratedClientVersion: .zero
        )
        let changeset = DownloadChangeset(
            cursor: cursor,
            originTimestamp: OriginTimestamp(UInt64(number)),
            originFileIdent: FileIdent(99),
            originalSizeInBytes: UInt64(writer.bytes.count),
            bytes: writer.bytes
        )
        return .download(
            .init(
                session: session,
                progress: SyncProgress(
                    latestServerVersion: SaltedServerVersion(
                        version: ServerVersion(UInt64(floodInMessages)),
                        salt: Salt(99)
                    ),
                    download: cursor,
                    upload: UploadCursor(
                        clientVersion: ClientVersion(uploaded),
                        lastIntegratedServerVersion: .zero
                    )
                ),
                extent: .partition(downloadableBytes: 0),
                changesets: [changeset]
            )
        )
    }

    /// A server that floods its first session as soon as it is told to, and acknowledges uploads.
    private static func floodingEndpoint(_ isFlooding: Flag) -> ScriptedEndpoint {
        var random = SplitMix64(seed: 7)
        let value = Text(
            bytes: (0..<1 << 20).map { _ in UInt8.random(in: 32...126, using: &random) }
        )
        return ScriptedEndpoint { server in
            var uploaded: [SessionIdent: UInt64] = [:]
            var hasFlooded = false
            while let message = try await server.receiveAny() {
                switch message {
                case .ping(let ping):
                    let timestamp = ping.timestampInMilliseconds
                    try await server.send(.pong(timestampInMilliseconds: timestamp))
                case .bind(let bind) where bind.needsFileIdent:
                    let ident = FileIdent(bind.session.rawValue + 6)
                    let file = SaltedFileIdent(ident: ident, salt: Salt(1234))
                    try await server.send(.ident(bind.session, file))
                case .ident(let ident):
                    try await server.send(
                        .progress(ident.session, server: 0, client: 0, uploaded: 0)
                    )
                case .mark(let session, let request):
                    try await server.send(.mark(session, request))
                case .upload(let upload):
                    uploaded[upload.session] = upload.progress.clientVersion.rawValue
                    if !hasFlooded, isFlooding.isRaised {
                        hasFlooded = true
                        for number in 1...floodInMessages {
                            try await server.send(
                                flood(number, 1, uploaded: uploaded[1] ?? 0, value)
                            )
                        }
                    }
                    try await server.send(
                        .progress(
                            upload.session,
                            server: 0,
                            client: 0,
                            uploaded: uploaded[upload.session] ?? 0
                        )
                    )
                default: continue
                }
            }
        }
    }

    @Test("While a realm has more to do than it may, its connection reads on for the other one")
    func full() async throws {
        let gate = Gate()
        let isFlooding = Flag()
        try await Self.withRealms(Self.floodingEndpoint(isFlooding), gate) { busy, quick, paths in
            for realm in [busy, quick] {
                #expect(await realm.sync(timeout: .seconds(180), .continuous) == .done)
            }
            gate.close()
            isFlooding.raise()
            for id in 1...3 {
                try RealmOnConnection.insert(paths.quick, id)
                #expect(await quick.sync(timeout: .seconds(180), .continuous) == .done)
            }
            #expect(await busy.isFull)
            #expect(await busy.snapshot().phase == .bound)
            gate.open()
            try await until {
                await busy.snapshot().file.progress.download.serverVersion
                    == ServerVersion(UInt64(Self.floodInMessages))
            }
            let count = try SQLite.Connection(path: paths.busy).integer("SELECT count(*) FROM Item")
            #expect(count == Int64(Self.floodInMessages))
        }
    }

    /// `REALM_BUSY_SECONDS` makes the transaction longer.
    @Test(
        "A transaction that takes long on a slow disk makes progress all the time, and delays no other"
    )
    func slowDisk() async throws {
        let seconds =
            ProcessInfo.processInfo.environment["REALM_BUSY_SECONDS"].flatMap(Int.init) ?? 6
        let received = Received()
        let files = FaultyFiles()
        var environment = RealmEnvironment.process
        environment.vfs = files.name
        let directory = try TemporaryDirectory()
        let logger = Logger(label: "test") { _ in SwiftLogNoOpLogHandler() }
        let slowPath = directory.file("slow.sqlite")
        let quickPath = directory.file("quick.sqlite")
        let slow = try await RealmOnConnection.open(
            slowPath,
            time: .continuous,
            busyTimeout: .seconds(600),
            environment: environment,
            { _ in },
            logger
        )
        let quick = try await RealmOnConnection.open(
            quickPath,
            time: .continuous,
            busyTimeout: .seconds(5),
            { _ in },
            logger
        )
        let connection = UserConnection(
            endpoint: Self.endpoint(received, tellsAll: false),
            timing: ConnectionTiming(pingPeriod: .milliseconds(20)),
            reconnect: .init(initial: .seconds(600)),
            time: .continuous,
            random: SplitMix64(seed: 2),
            logger: logger
        )
        try await withThrowingTaskGroup { group in
            await connection.join(slow)
            await connection.join(quick)
            group.addTask { await connection.run() }
            for realm in [slow, quick] {
                group.addTask { try await connection.run(realm, joins: false) }
            }
            for realm in [slow, quick] {
                try await until { await realm.snapshot().standing.hasCompleted }
            }
            // Each row takes at least a page of the history, and each page some milliseconds.
            files.slowDown(by: .milliseconds(4))
            try RealmOnConnection.insertPages(slowPath, count: seconds * 250)
            let isDone = Atomic(false)
            group.addTask {
                #expect(await slow.sync(timeout: .seconds(600), .continuous) == .done)
                isDone.store(true, ordering: .relaxed)
            }
            let clock = ContinuousClock()
            var (atWork, standstill) = (Duration.zero, Duration.zero)
            var last = (reading: slow.workload, at: clock.now)
            var looked = last.at
            var id = 0
            while !isDone.load(ordering: .relaxed) {
                id += 1
                try RealmOnConnection.insert(quickPath, id)
                let pings = received.pings
                #expect(await quick.sync(timeout: .seconds(180), .continuous) == .done)
                try await until { received.pings > pings }
                let (reading, now) = (slow.workload, clock.now)
                if reading.isAtWork, last.reading.isAtWork { atWork += now - looked }
                looked = now
                if reading.isAtWork, reading == last.reading {
                    standstill = max(standstill, now - last.at)
                } else {
                    last = (reading, now)
                }
            }
            print("\(atWork) at work, \(standstill) without a step, \(id) syncs meanwhile")
            #expect(id > 3)
            #expect(standstill * 3 < .seconds(seconds))
            #expect(atWork > .seconds(seconds) / 4)
            files.slowDown(by: .zero)
            group.cancelAll()
        }
        for realm in [slow, quick] { await realm.close() }
        withExtendedLifetime(directory) {}
    }
}
