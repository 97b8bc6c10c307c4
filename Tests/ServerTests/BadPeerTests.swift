import Changesets
import SyncProtocol
import Synchronization
import TestSupport
import Testing
import Transport
import Versions

@testable import ServerStore
@testable import SyncServer

@Suite("Bad peers", .timeLimit(.minutes(10)))
struct BadPeerTests {
    @Test(
        "Messages that cannot be read end their connection, and no other",
        arguments: SyncWorld.Carrier.allCases
    )
    func unreadable(carrier: SyncWorld.Carrier) async throws {
        try await SyncWorld.with(carrier) { world in
            try await world.connect { bystander in
                try await bystander.start()
                for (text, code) in [
                    ("nonsense 1\n", 102), ("mark 1 1\r\n", 103), ("mark  1 1\n", 103),
                    ("mark 1\n", 103), ("mark -1 1\n", 103), ("mark 1 1\nx", 103), ("", 103),
                    ("transact 1\n", 102), ("upload 1 1 10 3 0 0 0\nxyz", 110),
                    ("upload 1 0 3 0 0 0 0\nxyz", 111), ("upload 1 0 11 0 2 0 0\n2 0 5 0 99 ", 112),
                ] {
                    let report = try await world.connect { client in
                        try await client.send(text: text)
                        return try await client.expectError(session: nil)
                    }
                    #expect(report.code == code, "\(text)")
                    #expect(report.body.action == .protocolViolation)
                }
                #expect(try await bystander.catchUp(request: 1) == nil)
            }
        }
    }

    @Test("F2 A body that announces too much is closed with 1009")
    func bomb() async throws {
        try await SyncWorld.with(.webSocket) { world in
            let error = await #expect(throws: TransportError.self) {
                try await world.connect { client in
                    try await client.send(text: "upload 1 1 1000000000000 3 0 0 0\nabc")
                    while try await client.receive() != nil {}
                }
            }
            guard case .closed(let code, _)? = error else {
                Issue.record("\(String(describing: error))")
                return
            }
            #expect(code == .messageTooBig)
        }
    }

    @Test("F1 F2 A frame above the limit is closed with 1009")
    func largeFrame() async throws {
        try await SyncWorld.with(.webSocket) { world in
            let error = await #expect(throws: TransportError.self) {
                try await world.connect { client in
                    let size = Limits.server.messageSizeInBytes + 1
                    try await client.send(raw: [UInt8](repeating: 0x20, count: size))
                    while try await client.receive() != nil {}
                }
            }
            switch error {
            // The rest of the frame may meet a closed socket before the close frame is read.
            case .closed(.messageTooBig, _)?, .lost?: break
            default: Issue.record("\(String(describing: error))")
            }
        }
    }

    @Test("Random bytes at any point of a conversation end it with an error of the connection")
    func garbage() async throws {
        try await SyncWorld.with(.memory) { world in
            for seed in UInt64(0)..<60 {
                try await world.connect { client in
                    var random = SplitMix64(seed: seed)
                    if seed % 3 != 0 { try await client.bind() }
                    if seed % 3 == 2 { try await client.ident(1, try await client.expectIdent()) }
                    let count = Int.random(in: 1...200, using: &random)
                    let bytes = (0..<count).map { _ in UInt8.random(in: 0...255, using: &random) }
                    try await client.send(raw: bytes)
                    var codes: [Int] = []
                    while codes.isEmpty, let message = try await client.receive() {
                        if case .jsonError(let report) = message, report.session == nil {
                            codes.append(report.code)
                        }
                    }
                    #expect(codes.first.map { 100..<113 ~= $0 } == true, "seed \(seed)")
                }
            }
        }
    }

    @Test("Damaged changesets are refused, and nothing of them is stored")
    func spoiledChangesets() async throws {
        let world = try await ServerFileWorld()
        let client = try await world.client()
        try await world.upload([upload(2, on: 0)], by: client)
        let good = Tasks.create(1, title: "some title")
        for seed in UInt64(0)..<300 {
            var random = SplitMix64(seed: seed)
            var bytes = good
            for _ in 0...Int.random(in: 0..<3, using: &random) {
                let index = Int.random(in: 0..<bytes.count, using: &random)
                bytes[index] = UInt8.random(in: 0...255, using: &random)
            }
            do {
                let version = try await world.serverFile().currentVersion.rawValue
                try await world.upload([upload(3 + seed, on: version, bytes)], by: client)
            } catch is IntegrationRefusal {
                continue
            }
        }
        // The store is whole: every document reads back, and a new object can be made.
        let version = try await world.serverFile().currentVersion.rawValue
        try await world.upload(
            [upload(1000, on: version, Tasks.create(77, title: "after"))],
            by: client
        )
        #expect(try await world.tasks()[.int(77)]?.contains("after") == true)
    }

    @Test("The server stops reading from a client that receives nothing")
    func slowReader() async throws {
        let apps = try await TestApps()
        let service = SyncService.testing(apps)
        let subProtocol = SubProtocol(mode: .partitionBased, version: 9)
        let user = ConnectedUser(id: UserID("ann"), app: TestApps.shop, mustLeaveAt: .max)
        let (client, server) = InMemoryStream.makePair(
            subProtocol: subProtocol.token,
            capacity: 1
        )
        let total = 3000
        let sent = Counter()
        try await withThrowingTaskGroup(of: Void.self) { group in
            group.addTask { await service.serve(server, of: user, subProtocol) }
            group.addTask {
                for number in 0..<UInt64(total) {
                    let ping = ClientMessage.ping(
                        .init(timestampInMilliseconds: number, roundTripInMilliseconds: 0)
                    )
                    try await client.send(ping.encoded())
                    sent.increment()
                }
            }
            var largest = 0
            for received in 0..<total {
                // Time for the sender to get ahead, as far as it is let.
                for _ in 0..<20 { await Task.yield() }
                largest = max(largest, sent.value - received)
                _ = try #require(try await client.receive())
            }
            // The outbox, and what the two ends of the stream and the two tasks have in hand.
            #expect(largest <= ConnectionLimits.messagesInOutbox + 8)
            await client.close(.normal, reason: "")
            try await group.waitForAll()
        }
    }

    @Test("Uploads of a session leave the budget however it ends")
    func budgetIsGivenBack() async throws {
        let apps = try await TestApps()
        let service = SyncService.testing(apps)
        let subProtocol = SubProtocol(mode: .partitionBased, version: 9)
        let user = ConnectedUser(id: UserID("ann"), app: TestApps.shop, mustLeaveAt: .max)
        for ending in 0..<4 {
            let (stream, server) = InMemoryStream.makePair(subProtocol: subProtocol.token)
            let client = TestClient(stream)
            try await withThrowingTaskGroup(of: Void.self) { group in
                group.addTask { await service.serve(server, of: user, subProtocol) }
                try await client.start(1, "\"partition \(ending)\"")
                for version in UInt64(2)...9 {
                    let bytes = ending == 1 && version == 5 ? [0xff] : Tasks.schema
                    try await client.upload([upload(version, on: 0, bytes)])
                }
                switch ending {
                case 0: try await client.send(.unbind(1))
                case 1: _ = try await client.expectErrorAfterDownloads(session: 1)
                case 2: stream.cut()
                default: try await client.send(text: "nonsense\n")
                }
                await client.close()
                try await group.waitForAll()
            }
            // Nothing is counted, so anything fits.
            #expect(service.uploads.admits(.max), "ending \(ending)")
        }
    }

    @Test("The server reads few downloads for a client that receives none")
    func slowDownloads() async throws {
        try await SyncWorld.with(.memory) { world in
            try await world.connect { north in
                try await north.start()
                let text = String(repeating: "x", count: 200_000)
                let creates = (3...40).map {
                    upload($0, on: 0, Tasks.create(Int64($0), title: text))
                }
                try await north.upload([upload(2, on: 0)] + creates)
                _ = try await north.catchUp(request: 1)
                try await world.connect { south in
                    var sizes: [Int] = []
                    try await south.bind()
                    try await south.ident(1, try await south.expectIdent())
                    try await south.send(.mark(1, RequestIdent(1)))
                    while let message = try await south.receive() {
                        guard case .download(let download) = message else { break }
                        sizes.append(download.changesets.reduce(0) { $0 + $1.bytes.count })
                    }
                    // In several messages, each little above the limit of a scan.
                    #expect(sizes.count > 4)
                    #expect(sizes.allSatisfy { $0 < 1_300_000 })
                    #expect(sizes.reduce(0, +) > 38 * 200_000)
                }
            }
        }
    }
}

private final class Counter: Sendable {
    private let count = Atomic<Int>(0)

    var value: Int { count.load(ordering: .relaxed) }

    func increment() {
        count.add(1, ordering: .relaxed)
    }
}
