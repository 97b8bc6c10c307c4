import Logging
import ServerFixtures
import SyncProtocol
import Synchronization
import TestSupport
import Testing
import Versions

@testable import ServerStore
@testable import SyncServer

@Suite("The progress of a snapshot", .timeLimit(.minutes(10)))
struct SnapshotReportTests {
    /// Each look at it is later than the one before.
    private final class HurryingClock: Clock {
        private let step: Duration
        private let offset = Mutex(Duration.zero)

        init(step: Duration) {
            self.step = step
        }

        var now: VirtualInstant {
            offset.withLock { offset in
                offset += step
                return VirtualInstant(offset: offset)
            }
        }
        var minimumResolution: Duration { .zero }

        func sleep(until deadline: VirtualInstant, tolerance: Duration?) async throws {}
    }

    private struct Handler: LogHandler {
        let note: @Sendable (LogEvent) -> Void
        var metadata: Logger.Metadata = [:]
        var logLevel = Logger.Level.info

        init(_ note: @escaping @Sendable (LogEvent) -> Void) {
            self.note = note
        }

        subscript(metadataKey key: String) -> Logger.MetadataValue? {
            get { metadata[key] }
            set { metadata[key] = newValue }
        }

        func log(event: LogEvent) { note(event) }
    }

    /// The sizes that are logged while a snapshot of eight changesets is built.
    private func sizes(step: Duration) async throws -> [String] {
        let world = try await ServerFileWorld()
        let writer = try await world.client()
        try await world.upload([upload(2, on: 0)], by: writer)
        for number in 0..<8 {
            let change = Tasks.create(Int64(number), title: "t")
            try await world.upload([upload(UInt64(3 + number), on: 0, change)], by: writer)
        }
        let sizes = Mutex<[String]>([])
        let builder = SnapshotBuilder(
            store: world.store,
            policy: SnapshotPolicy(historySizeInBytes: 1, ratio: 0, changesetSizeInBytes: 1),
            timer: HurryingClock(step: step),
            logger: Logger(label: "test") { _ in
                Handler { event in
                    #expect(event.message == "building a snapshot")
                    sizes.withLock { $0.append("\(event.metadata?["written"] ?? "")") }
                }
            }
        )
        let file = try #require(try await world.store.read { try $0.file(world.file) })
        try await builder.refresh(file, at: 0)
        let built = try await world.store.read { try $0.file(world.file) }
        #expect(built?.snapshot != nil)
        return sizes.withLock { $0 }
    }

    @Test("A long one is in the log every ten seconds, with its size; a short one is not")
    func reports() async throws {
        let long = try await sizes(step: .seconds(11))
        #expect(long.count >= 2)
        let numbers = long.compactMap { Int($0.split(separator: " ")[0]) }
        #expect(numbers.count == long.count && numbers == numbers.sorted() && numbers[0] > 0)
        #expect(try await sizes(step: .milliseconds(1)).isEmpty)
    }
}
