import Changesets
import Scopes
import SyncProtocol
import Testing
import Transport
import Versions

@testable import ServerConfig
@testable import ServerStore

/// Checklist lines S and D of wire protocol, 19, as a client meets them.
@Suite("Sync conversations", .timeLimit(.minutes(10)))
struct ConversationTests {
    @Test(
        "The first message names the connection, for clients that can read it",
        arguments: [9, 10, 14]
    )
    func firstMessage(version: Int) async throws {
        try await SyncWorld.with(.webSocket) { world in
            try await world.connect(version: version) { client in
                try await client.send(
                    .ping(.init(timestampInMilliseconds: 5, roundTripInMilliseconds: 0))
                )
                let first = String(
                    decoding: try #require(try await client.receiveRaw()),
                    as: UTF8.self
                )
                if version < 10 {
                    #expect(first == "pong 5\n")
                } else {
                    #expect(first.hasPrefix("log_message 0 "))
                    #expect(first.contains("\"co_id\":\""))
                }
            }
        }
    }

    @Test(
        "D1 An empty history is a DOWNLOAD of zeros, then the MARK",
        arguments: SyncWorld.Carrier.allCases
    )
    func emptyHistory(carrier: SyncWorld.Carrier) async throws {
        try await SyncWorld.with(carrier) { world in
            try await world.connect { client in
                try await client.bind()
                let file = try await client.expectIdent()
                #expect(file.ident == FileIdent(2))
                #expect(file.salt != .none)
                try await client.ident(1, file)
                try await client.send(.mark(1, RequestIdent(2)))
                let download = try await client.expectDownload()
                #expect(download.progress == .zero)
                #expect(download.changesets.isEmpty)
                #expect(try await client.receive() == .mark(1, RequestIdent(2)))
            }
        }
    }

    @Test(
        "D2 D3 An upload is acknowledged to its maker, and reaches the others",
        arguments: SyncWorld.Carrier.allCases
    )
    func fanOut(carrier: SyncWorld.Carrier) async throws {
        try await SyncWorld.with(carrier) { world in
            try await world.connect { north in
                try await world.connect { south in
                    let (northFile, _) = try await north.start()
                    try await south.start()
                    try await north.upload(
                        [upload(2, on: 0), upload(3, on: 0, Tasks.create(1, title: "x"))],
                        progress: uploadCursor(5, 0)
                    )
                    let acknowledged = try await north.expectDownload()
                    #expect(acknowledged.changesets.isEmpty)
                    #expect(acknowledged.progress.download == downloadCursor(2, 3))
                    #expect(acknowledged.progress.upload == uploadCursor(5, 0))
                    #expect(acknowledged.extent == .partition(downloadableBytes: 0))

                    let received = try await south.expectDownload()
                    #expect(
                        received.changesets.map(\.originFileIdent) == [
                            northFile.ident, northFile.ident,
                        ]
                    )
                    #expect(received.changesets.map(\.cursor.serverVersion.rawValue) == [1, 2])
                    #expect(received.progress.upload == .zero)
                }
            }
        }
    }

    @Test("D4 Repeated uploads are recognised and acknowledged at once")
    func reupload() async throws {
        try await SyncWorld.with(.memory) { world in
            let user = try await world.logIn()
            let changesets = [upload(2, on: 0), upload(3, on: 0, Tasks.create(1, title: "x"))]
            let (file, latest) = try await world.connect(as: user) { client in
                let (file, _) = try await client.start()
                try await client.upload(changesets)
                return (file, try await client.expectDownload().progress.latestServerVersion)
            }
            try await world.connect(as: user) { client in
                try await client.bind(needsFileIdent: false)
                // The client never saw the answer: it is where it was.
                try await client.ident(1, file)
                let first = try await client.expectDownload()
                #expect(first.progress.upload == uploadCursor(3, 0))
                #expect(first.progress.download == downloadCursor(2, 3))
                #expect(first.progress.latestServerVersion == latest)
                try await client.upload(changesets)
                #expect(try await client.catchUp(request: 1) == nil)
            }
        }
    }

    @Test("D6 An UPLOAD without changesets changes nothing and gets no response")
    func emptyUpload() async throws {
        try await SyncWorld.with(.memory) { world in
            try await world.connect { north in
                try await world.connect { south in
                    try await north.start()
                    try await south.start()
                    try await north.upload([upload(2, on: 0)])
                    _ = try await north.expectDownload()
                    let download = try await south.expectDownload()
                    for version in UInt64(3)...5 {
                        try await south.upload([], progress: uploadCursor(version, 1), locked: 1)
                    }
                    #expect(try await south.catchUp(request: 1) == nil)
                    #expect(download.progress.latestServerVersion.version == ServerVersion(1))
                }
            }
        }
    }

    @Test("D8 A MARK follows all existing changes, and the newest answers both requests")
    func marks() async throws {
        try await SyncWorld.with(.memory) { world in
            try await world.connect { north in
                try await north.start()
                try await north.upload(
                    [upload(2, on: 0)]
                        + (3...40).map { upload($0, on: 0, Tasks.create(Int64($0), title: "t")) }
                )
                _ = try await north.catchUp(request: 1)
                try await world.connect { south in
                    try await south.bind()
                    try await south.ident(1, try await south.expectIdent())
                    try await south.send(.mark(1, RequestIdent(1)))
                    try await south.send(.mark(1, RequestIdent(2)))
                    var versions: [UInt64] = []
                    var marks: [UInt64] = []
                    while marks.last != 2, let message = try await south.receive() {
                        switch message {
                        case .download(let download):
                            versions += download.changesets.map(\.cursor.serverVersion.rawValue)
                        case .mark(_, let request):
                            marks.append(request.rawValue)
                            #expect(versions == Array(1...39))
                        default: Issue.record("\(message.name)")
                        }
                    }
                }
            }
        }
    }

    @Test(
        "S1 Partitions of every type; anything else is an illegal path",
        arguments: SyncWorld.Carrier.allCases
    )
    func partitions(carrier: SyncWorld.Carrier) async throws {
        try await SyncWorld.with(carrier) { world in
            try await world.connect { client in
                let good = [
                    "\"a\"", "null", "{\"$oid\":\"65a1f0c2e4b0a1b2c3d4e5f6\"}",
                    "{\"$numberLong\":\"5\"}", "{\"$numberInt\":\"6\"}",
                    "{\"$binary\":{\"base64\":\"ABEiM0RVZneImaq7zN3u/w==\",\"subType\":\"04\"}}",
                ]
                var session: SessionIdent = 1
                for partition in good {
                    try await client.start(session, partition)
                    session = session.next
                }
                for partition in ["/test", "5", "", "{}", String(repeating: "x", count: 1025)] {
                    try await client.bind(session, partition)
                    let report = try await client.expectError(session: session)
                    #expect(report.code == 204)
                    #expect(report.body.action == .applicationBug)
                    try await client.send(.unbind(session))
                    session = session.next
                }
            }
        }
    }

    @Test("A partition of another type than the app's is an illegal path")
    func partitionType() async throws {
        var app = TestApps.configurations[0]
        app.partitionType = .string
        try await SyncWorld.with(.memory, apps: [app]) { world in
            try await world.connect { client in
                try await client.start(1, "\"a\"")
                try await client.start(2, "null")
                try await client.bind(3, "{\"$numberLong\":\"5\"}")
                #expect(try await client.expectError(session: 3).code == 204)
            }
        }
    }

    @Test("S2 Messages out of order end the connection", arguments: SyncWorld.Carrier.allCases)
    func order(carrier: SyncWorld.Carrier) async throws {
        try await SyncWorld.with(carrier) { world in
            func expectCode(
                _ code: Int,
                _ send: @escaping @Sendable (TestClient) async throws -> Void
            ) async throws {
                let reports = try await world.connect { client in
                    try await send(client)
                    var reports: [JSONErrorReport] = []
                    while reports.isEmpty, let message = try await client.receive() {
                        if case .jsonError(let report) = message { reports.append(report) }
                    }
                    return reports
                }
                #expect(reports.map(\.code) == [code])
                #expect(reports.map(\.session) == [nil])
            }
            try await expectCode(106) { try await $0.send(.mark(5, RequestIdent(1))) }
            try await expectCode(107) {
                try await $0.bind()
                try await $0.bind()
            }
            try await expectCode(109) {
                try await $0.bind()
                try await $0.send(.mark(1, RequestIdent(1)))
            }
            try await expectCode(109) {
                let (file, _) = try await $0.start()
                try await $0.ident(1, file)
            }
        }
    }

    @Test("S3 Sessions of one connection are independent, and idents are used again")
    func multiplexing() async throws {
        try await SyncWorld.with(.memory) { world in
            try await world.connect { client in
                try await client.start(1, "\"a\"")
                let (file, _) = try await client.start(2, "\"b\"")
                try await client.send(.unbind(1))
                #expect(try await client.receive() == .unbound(1))
                try await client.upload([upload(2, on: 0)], in: 2)
                let progress = try await client.expectDownload(2).progress
                #expect(progress.upload == uploadCursor(2, 0))
                try await client.start(1, "\"c\"")
                // After an error and UNBIND, too.
                try await client.bind(3, "nonsense")
                _ = try await client.expectError(session: 3)
                try await client.send(.unbind(3))
                try await client.start(3, "\"d\"")
                try await client.send(.unbind(2))
                #expect(try await client.receive() == .unbound(2))
                try await client.bind(2, "\"b\"", needsFileIdent: false)
                try await client.ident(
                    2,
                    file,
                    at: progress.download,
                    latest: progress.latestServerVersion
                )
                #expect(try await client.expectDownload(2).progress.upload == uploadCursor(2, 0))
            }
        }
    }

    @Test("S4 Messages in flight after an error are ignored, and UNBIND gets no response")
    func inFlight() async throws {
        try await SyncWorld.with(.memory) { world in
            try await world.connect { client in
                let (file, _) = try await client.start()
                try await client.upload([upload(2, on: 0, [0xff])])
                try await client.upload([upload(3, on: 0)])
                try await client.send(.mark(1, RequestIdent(1)))
                var report = try await client.expectErrorAfterDownloads(session: 1)
                #expect(report.code == 212)
                #expect(report.body.action == .clientReset)
                #expect(!report.body.tryAgain)
                try await client.send(.unbind(1))
                // Only PONG can come now.
                try await client.send(
                    .ping(.init(timestampInMilliseconds: 9, roundTripInMilliseconds: 0))
                )
                #expect(try await client.receive() == .pong(timestampInMilliseconds: 9))
                // Nothing of the uploads was kept.
                try await client.bind(1, needsFileIdent: false)
                try await client.ident(1, file)
                #expect(try await client.expectDownload().progress.upload == .zero)
                try await client.upload([upload(2, on: 5)])
                report = try await client.expectError(session: 1)
                #expect(report.code == 209)
            }
        }
    }

    @Test("S5 A file that binds again on another connection closes the old one")
    func zombie() async throws {
        try await SyncWorld.with(.memory) { world in
            let user = try await world.logIn()
            try await world.connect(as: user) { old in
                let (file, _) = try await old.start()
                try await world.connect(as: user) { new in
                    try await new.takeOver(file, from: old)
                }
            }
        }
    }

    @Test("S5 A file in two sessions of one connection ends that connection")
    func sameConnection() async throws {
        try await SyncWorld.with(.memory) { world in
            try await world.connect { client in
                let (file, _) = try await client.start()
                try await client.bind(2, needsFileIdent: false)
                try await client.ident(2, file)
                #expect(try await client.expectError(session: nil).code == 108)
            }
        }
    }

    @Test("S6 UNBIND before IDENT is answered")
    func earlyUnbind() async throws {
        try await SyncWorld.with(.memory) { world in
            try await world.connect { client in
                try await client.bind()
                try await client.send(.unbind(1))
                _ = try await client.expectIdent()
                #expect(try await client.receive() == .unbound(1))
            }
        }
    }

    @Test("E6 A client that cannot integrate must start over")
    func clientError() async throws {
        try await SyncWorld.with(.memory) { world in
            try await world.connect { client in
                try await client.start()
                try await client.send(
                    .jsonError(
                        ClientErrorReport(
                            session: 1,
                            failure: IntegrationFailure(.badChangeset, message: "no")
                        )
                    )
                )
                let report = try await client.expectError(session: 1)
                #expect(report.code == 217)
                #expect(report.body.action == .clientReset)
            }
        }
    }

    @Test("H3 A client of flexible sync gets the error that the app is partition-based")
    func flexibleClient() async throws {
        try await SyncWorld.with(.webSocket) { world in
            try await world.connect(mode: .flexible) { client in
                let report = try await client.expectError(session: nil)
                #expect(report.code == 114)
                #expect(report.body.action == .applicationBug)
                #expect(!report.body.tryAgain)
            }
        }
    }

    @Test(
        "D3 Another user's file is not for syncing, and a reset keeps no writes where that is off"
    )
    func faults() async throws {
        var app = TestApps.configurations[0]
        app.allowsClientRecovery = false
        try await SyncWorld.with(.memory, apps: [app]) { world in
            let file = try await world.connect { try await $0.start().file }
            try await world.connect { client in
                try await client.bind(needsFileIdent: false)
                try await client.ident(1, file)
                let mismatch = try await client.expectError(session: 1)
                #expect(mismatch.code == 223)
                #expect(mismatch.body.action == .deleteRealm)
                try await client.bind(2, needsFileIdent: false)
                let unknown = SaltedFileIdent(ident: FileIdent(99), salt: Salt(1))
                try await client.ident(2, unknown)
                let reset = try await client.expectError(session: 2)
                #expect(reset.code == 208)
                #expect(reset.body.action == .clientResetNoRecovery)
                #expect(reset.body.isRecoveryModeDisabled)
            }
        }
    }

    @Test("A schema change that is not allowed is the application's fault, not a reset")
    func schemaChange() async throws {
        var app = TestApps.configurations[0]
        app.isDevelopmentMode = false
        try await SyncWorld.with(.memory, apps: [app]) { world in
            try await world.connect { client in
                try await client.start()
                try await client.upload([upload(2, on: 0)])
                let report = try await client.expectError(session: 1)
                #expect(report.code == 225)
                #expect(report.body.action == .applicationBug)
                #expect(report.body.message.contains("development mode is off"))
            }
        }
    }
}
