import FoundationEssentials
import LocalRealm
import Logging
import TestSupport
import Testing

@testable import SyncClient

@Suite("The rests of a realm", .timeLimit(.minutes(10)))
struct PeriodicRestTests {
    private let clock = SteppedClock()

    /// The pauses before the first look, and between looks.
    private static let start = Duration.milliseconds(100)...(.milliseconds(200))
    private static let pause = Duration.seconds(3)...(.seconds(5))

    @Test("A silent file rests without a timer until it is used, and then rests again")
    func restsAgain() async throws {
        let directory = try TemporaryDirectory()
        let realm = try await RealmOnConnection.open(
            directory.file("test.sqlite"),
            time: clock.syncTime,
            busyTimeout: .seconds(5),
            { _ in },
            Logger(label: "test") { _ in SwiftLogNoOpLogHandler() }
        )
        try await withThrowingTaskGroup { group in
            let silence = Duties([PeriodicRest(store: realm.store).duty], clock.syncTime)
            group.addTask { await silence.carryOut() }
            for _ in 0..<3 {
                try await clock.pass(Self.start)
                for _ in 0..<2 { try await clock.pass(Self.pause) }
                try await until { !isOpen(realm.path) }
                // An hour of silence changes nothing, nor does the question for its status.
                clock.advance(by: .seconds(3600))
                _ = await realm.snapshot()
                #expect(!isOpen(realm.path))
                try RealmOnConnection.insert(realm.path, Int.random(in: 1...1_000_000))
                #expect(await realm.capture())
                #expect(isOpen(realm.path))
            }
            group.cancelAll()
        }
        await realm.close()
    }

    /// Whether this process has the database file open.
    private func isOpen(_ path: String) -> Bool {
        let directory = "/proc/self/fd"
        let names = (try? FileManager.default.contentsOfDirectory(atPath: directory)) ?? []
        return names.contains {
            let file = try? FileManager.default.destinationOfSymbolicLink(
                atPath: "\(directory)/\($0)"
            )
            return file == path
        }
    }
}
