import SyncProtocol
import Testing
import Transport
import Versions

@testable import ServerHTTP
@testable import ServerStore

/// Two services on one store and one backplane: what a client does at one concerns clients of the
/// other.
@Suite("Two processes", .timeLimit(.minutes(5)))
struct TwoProcessTests {
    @Test("What a client uploads at one process reaches a client of the other")
    func growth() async throws {
        try await SyncWorld.with(.memory) { one in
            let other = one.otherProcess()
            try await one.connect { writer in
                let (file, _) = try await writer.start()
                try await other.connect { reader in
                    try await reader.start()
                    try await writer.upload([upload(2, on: 0)])
                    let download = try await reader.expectDownload()
                    #expect(download.changesets.map(\.originFileIdent) == [file.ident])
                }
            }
        }
    }

    @Test("A client that comes to another process loses its connection at the first")
    func takeover() async throws {
        try await SyncWorld.with(.memory) { one in
            let other = one.otherProcess()
            let user = try await one.logIn()
            try await one.connect(as: user) { old in
                let (file, _) = try await old.start()
                try await other.connect(as: user) { new in
                    try await new.takeOver(file, from: old)
                }
            }
        }
    }

    @Test("An operator's call at one process ends connections of the other, and counts them")
    func control() async throws {
        try await SyncWorld.with(.memory) { one in
            let other = one.otherProcess()
            let user = try await one.logIn()
            try await other.connect(as: user) { client in
                try await client.start()
                let report = try await one.admin.call("GET", "apps/shop-abcde/sync")
                    .decode(AppSyncReport.self)
                #expect(report.connections == 1)
                #expect(report.sessions == 1)
                await one.admin.call("PUT", "apps/shop-abcde/users/\(user.user.id)/disable")
                let error = await #expect(throws: TransportError.self) {
                    while try await client.receive() != nil {}
                }
                #expect(error == .closed(.unauthorized, reason: "user disabled"))
            }
        }
    }
}
