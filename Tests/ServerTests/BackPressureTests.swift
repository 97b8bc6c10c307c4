import Dispatch
import ServerFixtures
import SyncProtocol
import TestSupport
import Testing
import Versions

@testable import ServerStore
@testable import SyncServer

/// Clients that upload faster than the store integrates.
@Suite("Uploads wait for the store", .timeLimit(.minutes(10)))
struct BackPressureTests {
    /// Keeps the store's writer busy until it is opened.
    private final class Gate: Sendable {
        private let isOpen = DispatchSemaphore(value: 0)
        private let isEntered = Signal()

        /// Returns when the writer is busy; the task ends when the gate is opened.
        func close(_ store: any Store) async -> Task<Void, any Error> {
            let task = Task {
                try await store.write(for: .accounts) { [isOpen, isEntered] _ in
                    isEntered.raise()
                    isOpen.wait()
                    // A body may run again.
                    isOpen.signal()
                }
            }
            await isEntered.wait()
            return task
        }

        func open() { isOpen.signal() }
    }

    private final class Signal: Sendable {
        private let stream: AsyncStream<Void>
        private let continuation: AsyncStream<Void>.Continuation

        init() { (stream, continuation) = AsyncStream.makeStream() }

        func raise() { continuation.yield() }

        func wait() async {
            for await _ in stream { return }
        }
    }

    private static let text = String(repeating: "x", count: 1 << 20)
    /// Of about 1 MiB each: four times what may wait.
    private static let uploads = (3..<35).map { version in
        upload(UInt64(version), on: 0, Tasks.create(Int64(version), title: text))
    }

    private static func send(_ client: TestClient) async throws {
        for upload in uploads {
            try await client.upload([upload])
        }
    }

    /// Until nothing more is read: what waits does not grow any more.
    private static func settle(_ backlog: UploadBacklog) async throws {
        try await until { backlog.sizeInBytes >= ConnectionLimits.uploadBacklogInBytes }
        for _ in 0..<1_000 { await Task.yield() }
    }

    @Test("A client is read no further while its uploads wait, and loses nothing")
    func backPressure() async throws {
        try await SyncWorld.with(.memory) { world in
            try await world.connect { client in
                try await client.start()
                try await client.upload([upload(2, on: 0)])
                _ = try await client.catchUp(request: 1)
                let gate = Gate()
                let writer = await gate.close(world.apps.store)
                try await withThrowingDiscardingTaskGroup { group in
                    group.addTask { try await Self.send(client) }
                    let backlog = world.sync.uploads
                    try await Self.settle(backlog)
                    #expect(backlog.sizeInBytes < ConnectionLimits.uploadBacklogInBytes + (3 << 20))
                    gate.open()
                    try await writer.value
                }
                let last = try await client.catchUp(request: 2)
                #expect(last?.progress.upload.clientVersion == ClientVersion(34))
                #expect(world.sync.uploads.sizeInBytes == 0)
            }
        }
    }

    @Test("A client that is not read is not taken for dead")
    func silence() async throws {
        let clock = SteppedClock()
        let timing = ServerTiming(clock: clock, storeTimeout: .seconds(1_000_000))
        try await SyncWorld.with(.memory, timing: timing) { world in
            try await world.connect { client in
                try await client.start()
                try await client.upload([upload(2, on: 0)])
                _ = try await client.catchUp(request: 1)
                let gate = Gate()
                let writer = await gate.close(world.apps.store)
                try await withThrowingDiscardingTaskGroup { group in
                    group.addTask { try await Self.send(client) }
                    try await Self.settle(world.sync.uploads)
                    // The tick of all connections, and the watch on the store.
                    for _ in 1...40 { try await clock.pass(.seconds(60), whenAsleep: 2) }
                    gate.open()
                    try await writer.value
                }
                let last = try await client.catchUp(request: 2)
                #expect(last?.progress.upload.clientVersion == ClientVersion(34))
            }
        }
    }

    @Test("A store that integrates nothing for long has the uploads refused for now")
    func refusal() async throws {
        let clock = SteppedClock()
        try await SyncWorld.with(.memory, timing: ServerTiming(clock: clock)) { world in
            try await world.connect { client in
                try await client.start()
                try await client.upload([upload(2, on: 0)])
                _ = try await client.catchUp(request: 1)
                let gate = Gate()
                let writer = await gate.close(world.apps.store)
                try await withThrowingDiscardingTaskGroup { group in
                    group.addTask { try await Self.send(client) }
                    try await Self.settle(world.sync.uploads)
                    try await clock.pass(.seconds(30), whenAsleep: 2)
                    let error = try await client.expectError(session: 1)
                    #expect(error.code == 201)
                    #expect(error.body.backoff == ConnectionLimits.backoff)
                    gate.open()
                    try await writer.value
                }
                // The rest is read and discarded.
                try await until { world.sync.uploads.sizeInBytes == 0 }
            }
        }
    }
}
