import Dispatch
import ServerFixtures
import Synchronization
import TestSupport
import Testing

@testable import SQLiteServerStore
@testable import ServerStore

/// The order in which the store's one writer serves owners.
@Suite("The order of writes")
struct WriteOrderTests {
    /// A record of events, shared by bodies and tests.
    private final class Record: Sendable {
        let served = Mutex<[WriteOwner]>([])
        let hasBegun = Mutex(false)
        let count = Mutex(0)
    }

    private let greedy = WriteOwner.user(UserID("greedy"))
    private let other = WriteOwner.user(UserID("other"))

    /// Has a first write hold the writer until the others wait behind it; returns who was served.
    private func order(
        of waiting: [(WriteOwner, count: Int)],
        clock: SteppedClock = SteppedClock(),
        taking duration: Duration = .zero
    ) async throws -> [WriteOwner] {
        try await withTemporaryDirectory { directory in
            let store = try await SQLiteStore(
                .file(path: "\(directory)/server.sqlite"),
                clock: clock
            )
            let record = Record()
            let mayEnd = DispatchSemaphore(value: 0)
            try await withThrowingTaskGroup(of: Void.self) { group in
                group.addTask {
                    try await store.write(for: .upkeep) { _ in
                        record.hasBegun.withLock { $0 = true }
                        _ = mayEnd.wait(timeout: .now() + .seconds(120))
                    }
                }
                try await until { record.hasBegun.withLock { $0 } }
                for (owner, count) in waiting {
                    let before = store.waitingWrites
                    for _ in 0..<count {
                        group.addTask {
                            try await store.write(for: owner) { _ in
                                record.served.withLock { $0.append(owner) }
                                clock.advance(by: duration)
                            }
                        }
                    }
                    try await until { store.waitingWrites == before + count }
                }
                mayEnd.signal()
                try await group.waitForAll()
            }
            await store.close()
            return record.served.withLock { $0 }
        }
    }

    @Test("A user with many writes delays another's by one, and log-ins by none")
    func turns() async throws {
        let served = try await order(of: [(greedy, 50), (other, 2), (.accounts, 3)])
        #expect(Array(served.prefix(3)) == [.accounts, .accounts, .accounts])
        #expect(Array(served.dropFirst(3).prefix(5)) == [greedy, other, greedy, other, greedy])
        #expect(served.count == 55)
    }

    @Test("A flood of log-ins leaves turns to the others")
    func logIns() async throws {
        let served = try await order(of: [(other, 2), (.accounts, 200)])
        let turns = served.indices.filter { served[$0] == other }
        #expect(turns.allSatisfy { $0 < 140 }, "\(turns)")
    }

    @Test("Long writes do not delay a commit")
    func slices() async throws {
        try await withTemporaryDirectory { directory in
            // Only the bodies of writes move it.
            let clock = SteppedClock()
            let store = try await SQLiteStore(
                .file(path: "\(directory)/server.sqlite"),
                clock: clock
            )
            // Each but the first lasts until the one before it is on the disk: in one commit with it, it
            // would wait for ever.
            let record = Record()
            let isOnDisk = DispatchSemaphore(value: 0)
            try await withThrowingTaskGroup(of: Bool.self) { group in
                for number in 0..<3 {
                    group.addTask {
                        let wasInTime = try await store.write(for: .user(UserID("\(number)"))) {
                            _ in
                            clock.advance(by: .milliseconds(60))
                            let isFirst = record.count.withLock { count -> Bool in
                                count += 1
                                return count == 1
                            }
                            guard !isFirst else { return true }
                            return isOnDisk.wait(timeout: .now() + .seconds(60)) == .success
                        }
                        isOnDisk.signal()
                        return wasInTime
                    }
                }
                for try await wasInTime in group { #expect(wasInTime) }
            }
            await store.close()
        }
    }
}
