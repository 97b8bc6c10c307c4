import Dispatch
import SQLite
import Scopes
import ServerFixtures
import Synchronization
import TestSupport
import Testing

@testable import SQLiteServerStore
@testable import ServerStore

/// Reads beside each other, on connections of their own.
@Suite("Reads of a store in a file", .timeLimit(.minutes(5)))
struct ReaderPoolTests {
    private let app = AppID.named("shop-abcde")

    /// Lends a store, with the number of connections that read.
    private static func withStore(
        _ body: (SQLiteStore, Counter) async throws -> Void
    ) async throws {
        try await withTemporaryDirectory { directory in
            let readers = Counter()
            let store = try await SQLiteStore(.file(path: "\(directory)/server.sqlite")) { label in
                if label == "realm-server.store.read" { readers.add(1) }
                return DatabaseExecutor(label: label)
            }
            try await body(store, readers)
            await store.close()
        }
    }

    private final class Counter: Sendable {
        private let count = Mutex(0)

        func add(_ number: Int) { count.withLock { $0 += number } }
        var value: Int { count.withLock(\.self) }
    }

    /// The largest number that were there at once.
    private final class Peak: Sendable {
        private let state = Mutex((now: 0, most: 0))

        func enter() {
            state.withLock { state in
                state.now += 1
                state.most = max(state.most, state.now)
            }
        }

        func leave() { state.withLock { $0.now -= 1 } }

        var value: Int { state.withLock(\.most) }
    }

    @Test("Long reads delay no other, and each sees its own state")
    func longReads() async throws {
        try await Self.withStore { store, readers in
            let (begun, mayEnd) = (Counter(), DispatchSemaphore(value: 0))
            let long = ReaderPool.size - 1
            try await withThrowingTaskGroup(of: Int.self) { group in
                for _ in 0..<long {
                    group.addTask { [app] in
                        try await store.read { snapshot in
                            let before = try snapshot.files(of: app).count
                            begun.add(1)
                            _ = mayEnd.wait(timeout: .now() + .seconds(120))
                            return try snapshot.files(of: app).count - before
                        }
                    }
                }
                try await until { begun.value == long }
                // Each of these would wait for the long ones if they shared a connection.
                for number in 1...20 {
                    try await store.write { [app] in
                        _ = try $0.makeFile(of: app, .int(Int64(number)))
                    }
                    let count = try await store.read { [app] in try $0.files(of: app).count }
                    #expect(count == number)
                }
                for _ in 0..<long { mayEnd.signal() }
                for try await change in group { #expect(change == 0) }
            }
            #expect(readers.value == ReaderPool.size)
        }
    }

    @Test("Reads that come one at a time share one connection")
    func oneConnection() async throws {
        try await Self.withStore { store, readers in
            for _ in 1...50 { _ = try await store.read { [app] in try $0.files(of: app).count } }
            #expect(readers.value == 1)
        }
    }

    @Test("Any number of reads at once take a bounded number of connections")
    func manyReads() async throws {
        try await Self.withStore { store, readers in
            let peak = Peak()
            try await withThrowingDiscardingTaskGroup { group in
                for _ in 0..<200 {
                    group.addTask { [app] in
                        _ = try await store.read { snapshot in
                            peak.enter()
                            defer { peak.leave() }
                            return try snapshot.files(of: app).count
                        }
                    }
                }
            }
            #expect(peak.value <= ReaderPool.size)
            #expect(readers.value <= ReaderPool.size)
        }
    }

    @Test("A read that fails gives its connection back, and a closed store reads no more")
    func failures() async throws {
        struct Refusal: Error, Equatable {}
        try await Self.withStore { store, readers in
            for _ in 1...(2 * ReaderPool.size) {
                await #expect(throws: Refusal()) {
                    try await store.read { _ throws in throw Refusal() }
                }
            }
            #expect(readers.value == 1)
            await store.close()
            await #expect(throws: StoreError.self) {
                try await store.read { [app] in try $0.files(of: app) }
            }
        }
    }
}
