import Dispatch
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

        var surroundings: RealmEnvironment {
            var surroundings = RealmEnvironment.process
            surroundings.executor = { label in
                let thread = DispatchQueue(label: label)
                return DatabaseExecutor { work in
                    thread.async {
                        if self.isClosed.load(ordering: .relaxed) { self.semaphore.wait() }
                        work()
                    }
                }
            }
            return surroundings
        }
    }

    /// The messages of the two realms' sessions, and PINGs.
    private struct Heard {
        var uploads: [SessionIdent: Int] = [:]
        var pings = 0
    }

    @Test("Its connection answers, the other realm syncs, and its own status is there at once")
    func busy() async throws {
        let heard = Mutex(Heard())
        let gate = Gate()
        let endpoint = ScriptedEndpoint { server in
            var uploaded: [SessionIdent: UInt64] = [:]
            while let message = try await server.receiveAny() {
                switch message {
                case .ping(let ping):
                    heard.withLock { $0.pings += 1 }
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
                    heard.withLock { $0.uploads[upload.session, default: 0] += 1 }
                    uploaded[upload.session] = upload.progress.clientVersion.rawValue
                    // The busy one has something to integrate, too.
                    for (session, version) in uploaded {
                        try await server.send(
                            .progress(session, server: 0, client: 0, uploaded: version)
                        )
                    }
                default: continue
                }
            }
        }
        let directory = try TemporaryDirectory()
        let logger = Logger(label: "test") { _ in SwiftLogNoOpLogHandler() }
        let (busyPath, quickPath) = (directory.file("busy.sqlite"), directory.file("quick.sqlite"))
        let busy = try await RealmOnConnection.open(
            busyPath,
            time: .continuous,
            busyTimeout: .seconds(5),
            surroundings: gate.surroundings,
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
            for realm in [busy, quick] {
                try await until { await realm.snapshot().standing.hasCompleted }
            }
            gate.close()
            // Work that its thread does not come back from.
            try RealmOnConnection.insert(busyPath, 1)
            for id in 1...20 {
                let pings = heard.withLock { $0.pings }
                try RealmOnConnection.insert(quickPath, id)
                #expect(await quick.sync(timeout: .seconds(180), .continuous) == .done)
                #expect(await busy.snapshot().phase == .bound)
                try await until { heard.withLock { $0.pings } > pings }
            }
            gate.open()
            #expect(await busy.sync(timeout: .seconds(180), .continuous) == .done)
            group.cancelAll()
        }
        for realm in [busy, quick] { await realm.close() }
        #expect(heard.withLock { $0.uploads.count } == 2)
        #expect(endpoint.tokens.count == 1)
        withExtendedLifetime(directory) {}
    }
}
