import LocalRealm
import ScriptedPeers
import SyncProtocol
import Synchronization
import TestSupport
import Testing
import Versions

@testable import SyncClient

@Suite("Acknowledgements of what was integrated", .timeLimit(.minutes(10)))
struct AcknowledgementTests {
    private let clock = SteppedClock()

    private struct Heard: Equatable {
        let integrated: ServerVersion
        let changesets: Int
    }

    /// Runs the body once five downloads are integrated; it can ask for the uploads that the server has heard since.
    private func afterDownloads(
        _ body: (_ path: String, _ heard: () -> [Heard]) async throws -> Void
    ) async throws {
        let heard = Mutex<[Heard]>([])
        let endpoint = ScriptedEndpoint { server in
            let session = try await server.open(RealmOnConnection.file)
            // The schema.
            guard case .upload = try await server.receive() else { throw ScriptedServer.Gone() }
            for version in 1...5 as ClosedRange<UInt64> {
                try await server.send(
                    .progress(session, server: version, client: 0, uploaded: 0)
                )
            }
            while let message = try await server.receiveAny() {
                guard case .upload(let upload) = message else { continue }
                let integrated = upload.progress.lastIntegratedServerVersion
                heard.withLock {
                    $0.append(Heard(integrated: integrated, changesets: upload.changesets.count))
                }
            }
        }
        let timing = ConnectionTiming(pingPeriod: .seconds(9_000_000))
        try await RealmOnConnection.with(endpoint, timing: timing, time: clock.syncTime) {
            realm,
            _,
            path in
            try await until {
                await realm.snapshot().file.progress.download.serverVersion == ServerVersion(5)
            }
            try await body(path) { heard.withLock { $0 } }
        }
    }

    private func pass(_ time: Duration) async {
        clock.advance(by: time)
        for _ in 0..<100 { await Task.yield() }
    }

    @Test("go together in one message, after a fifth of a second")
    func together() async throws {
        try await afterDownloads { _, heard in
            await pass(.milliseconds(150))
            #expect(heard().isEmpty)
            try await until {
                await pass(.milliseconds(10))
                return !heard().isEmpty
            }
            for _ in 0..<20 { await pass(.milliseconds(100)) }
            #expect(heard() == [Heard(integrated: ServerVersion(5), changesets: 0)])
        }
    }

    @Test("go with local writes")
    func withWrites() async throws {
        try await afterDownloads { path, heard in
            try RealmOnConnection.insert(path, 1)
            let write = Heard(integrated: ServerVersion(5), changesets: 1)
            try await until {
                await pass(.milliseconds(1))
                return heard().contains(write)
            }
            for _ in 0..<20 { await pass(.milliseconds(100)) }
            // Before it there may be one without changesets: that of a write which was noticed late.
            #expect(heard().suffix(1) == [write])
            #expect(heard().count <= 2)
        }
    }
}
