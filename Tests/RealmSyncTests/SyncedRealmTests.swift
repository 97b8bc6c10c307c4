import FoundationEssentials
import Platform
import RealmFixtures
import Scheduling
import SyncClient
import TestSupport
import Testing

@testable import RealmSync

@Suite("A realm that cannot be opened", .timeLimit(.minutes(10)))
struct SyncedRealmTests {
    let temporary: TemporaryDirectory

    init() throws {
        self.temporary = try TemporaryDirectory()
    }

    func realm(status: Int?) throws -> SyncedRealm {
        try OfflineRealm(in: temporary).realm(status: status)
    }

    @Test("A sync and the status give the reason, and each sync makes one more attempt")
    func refused() async throws {
        let realm = try realm(status: 401)
        let run = Task { await realm.run() }
        for _ in 0..<3 {
            let report = await realm.sync(timeout: nil)
            #expect(report.outcome == .loginRequired)
            #expect(report.detail?.contains("InvalidPassword") == true)
        }
        let status = await realm.status()
        #expect(status.activity.phase == .loginRequired)
        #expect(status.activity.cause == .logInRefused)
        run.cancel()
        await run.value
    }

    @Test(
        "A log-in without an answer keeps neither a sync from timing out nor the agent from ending"
    )
    func silence() async throws {
        let realm = try realm(status: nil)
        let run = Task { await realm.run() }
        #expect(await realm.sync(timeout: .milliseconds(1)).outcome == .timedOut)
        async let waiting = realm.sync(timeout: nil)
        run.cancel()
        await run.value
        #expect(await waiting.outcome == .offline)
        // Nor does a call wait for a realm that will not run again.
        #expect(await realm.sync(timeout: nil).outcome == .offline)
    }

    @Test(
        "Operations wait for the first attempt to open the file, at most for their time-out"
    )
    func start() async throws {
        let realm = try realm(status: 401)
        // Nothing has been attempted yet, and nothing will be before `run`.
        await realm.waitWhileStarting(atMost: .milliseconds(1))
        #expect(await realm.status().activity.cause != .logInRefused)
        async let waiting: Void = realm.waitWhileStarting(atMost: .seconds(300))
        let run = Task { await realm.run() }
        await waiting
        #expect(await realm.status().activity.cause == .logInRefused)
        // After a failure there is nothing to wait for.
        await realm.waitWhileStarting(atMost: .seconds(300))
        run.cancel()
        await run.value
    }

    @Test("Times of the last transfers are shown after a restart, while the realm cannot connect")
    func lastTransfers() async throws {
        let offline = OfflineRealm(in: temporary)
        var record = RealmRecord(
            path: offline.path,
            instance: "i",
            home: "h",
            appID: "shop",
            userID: "u1",
            partition: "",
            localVersion: 3,
            isFirstDownloadFinished: true,
            lastConnected: 1_772_600_767_000,
            lastUploaded: nil,
            lastDownloaded: 1_772_600_700_000
        )
        let register = MetadataRealmRegister(database: try offline.database(), realm: "stock")
        try await register.keep(record)
        let realm = try offline.realm(status: 503)
        let run = Task { await realm.run() }
        var last = await realm.status().lastTransfers
        #expect(last.connected == 1_772_600_767_000)
        #expect(last.downloaded == 1_772_600_700_000)
        // An agent that has never written anything has uploaded nothing.
        #expect(last.uploaded == nil)
        record.lastUploaded = 1_772_600_701_000
        try await register.keep(record)
        last = await realm.status().lastTransfers
        #expect(last.uploaded == 1_772_600_701_000)
        run.cancel()
        await run.value
    }

    @Test("A pause is shown with its cause, asks no server, and ends with the permission")
    func pause() async throws {
        let realm = try realm(status: 401)
        await realm.allow(.paused(.metered, detail: nil))
        let run = Task { await realm.run() }
        let status = await realm.status()
        #expect(status.activity.phase == .paused)
        #expect(status.activity.cause == .metered)
        // A requested sync runs all the same.
        #expect(await realm.sync(timeout: nil).outcome == .loginRequired)
        await realm.allow(.run)
        #expect(await realm.status().activity.phase == .loginRequired)
        run.cancel()
        await run.value
    }

    @Test("A suspension outlives the process, refuses a sync, and ends when resumed")
    func suspension() async throws {
        try await realm(status: 401).suspend()
        let realm = try realm(status: 401)
        let run = Task { await realm.run() }
        try await until { await realm.status().activity.phase == .suspended }
        #expect(await realm.status().activity.cause == .byUser)
        let report = await realm.sync(timeout: nil)
        #expect(report.outcome == .offline)
        #expect(report.detail?.contains("resume") == true)
        await realm.resume()
        #expect(await realm.sync(timeout: nil).outcome == .loginRequired)
        run.cancel()
        await run.value
        let register = MetadataRealmRegister(
            database: try OfflineRealm(in: temporary).database(),
            realm: "stock"
        )
        #expect(try await register.suspension() == nil)
    }

    @Test("A suspension ends at its time, and the status shows its end")
    func suspensionWithEnd() async throws {
        let realm = try realm(status: 401)
        await realm.suspend(until: 4_102_444_800_000, by: .plugin(name: "ops"))
        let status = await realm.status()
        #expect(status.activity.cause == .byPlugin)
        #expect(status.activity.detail == "ops, until 2100-01-01T00:00:00.000Z")
        await realm.suspend(until: WallTime.now().millisecondsSince1970 + 1)
        let run = Task { await realm.run() }
        try await until { await realm.status().activity.phase != .suspended }
        #expect(await realm.sync(timeout: nil).outcome == .loginRequired)
        run.cancel()
        await run.value
    }

    @Test("Work that needs the file closed runs alone, also before there is a file")
    func whileClosed() async throws {
        let realm = try realm(status: 401)
        let run = Task { await realm.run() }
        #expect(await realm.whileClosed { 7 } == 7)
        #expect(await realm.sync(timeout: nil).outcome == .loginRequired)
        run.cancel()
        await run.value
        #expect(await realm.whileClosed { 8 } == 8)
    }

    @Test("The content of a file that is not open is unknown, so it is deleted only by force")
    func deletion() async throws {
        let realm = try realm(status: 401)
        let path = realm.path
        try DataDirectory.prepareRealmDirectory(of: path)
        try Data("x".utf8).write(to: URL(filePath: path))
        await #expect(throws: SyncedRealm.DeletionFailure.notOpen) {
            try await realm.delete(force: false)
        }
        #expect(try await realm.delete(force: true) == [path])
        #expect(await realm.status().activity.phase == .suspended)
        #expect(try await realm.delete(force: false) == [])
        try Data("y".utf8).write(to: URL(filePath: path))
        try await realm.setAside()
        #expect(!FileManager.default.fileExists(atPath: path))
        let directory = realm.context.recoveredDirectory
        let kept = try FileManager.default.contentsOfDirectory(atPath: directory)
        #expect(kept.count == 1)
        #expect(kept.first?.hasPrefix("stock-") == true)
    }

    @Test("A wait ends at an error that retrying cannot clear")
    func waiting() async throws {
        let realm = try realm(status: 401)
        let run = Task { await realm.run() }
        #expect(await realm.wait(for: [.upload], timeout: nil).outcome == .loginRequired)
        await realm.suspend()
        #expect(await realm.wait(for: [.upload], timeout: nil).outcome == .offline)
        #expect(await realm.progress(.upload, .indefinite) == nil)
        run.cancel()
        await run.value
    }
}
