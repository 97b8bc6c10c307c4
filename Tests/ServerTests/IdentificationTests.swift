import ServerFixtures
import SyncProtocol
import Testing
import Versions

@testable import ServerStore
@testable import Surroundings
@testable import SyncServer

/// Each row of sync history, 13, against what is really stored.
@Suite("Identifying client files", .timeLimit(.minutes(10)))
struct IdentificationTests {
    private struct Prepared {
        let world: ServerFileWorld
        let client: ClientFile
        /// The newest server version with its salt: 2.
        let latest: SaltedServerVersion

        init() async throws {
            self.world = try await ServerFileWorld()
            let other = try await world.client()
            try await world.upload(
                [upload(2, on: 0), upload(3, on: 0, Tasks.create(1, title: "x"))],
                by: other
            )
            let client = try await world.client()
            try await world.upload([], progress: uploadCursor(4, 1), by: client)
            self.client = client
            self.latest = try await world.scan(for: client).progress.latestServerVersion
        }

        func fault(
            ident: SaltedFileIdent? = nil,
            at cursor: DownloadCursor = downloadCursor(1, 0),
            latest: SaltedServerVersion? = nil,
            as user: UserID = ServerFileWorld.ann
        ) async -> SessionFault? {
            do {
                _ = try await world.identify(
                    ident ?? client.salted,
                    at: cursor,
                    latest: latest ?? self.latest,
                    as: user
                )
                return nil
            } catch {
                return error as? SessionFault
            }
        }
    }

    @Test("A file that matches the store is accepted, with its cursor and its lock")
    func good() async throws {
        let prepared = try await Prepared()
        prepared.world.clock.advance(bySeconds: 5)
        let file = try await prepared.world.identify(
            prepared.client.salted,
            at: downloadCursor(2, 4),
            latest: prepared.latest
        )
        #expect(file.upload == uploadCursor(4, 1))
        #expect(file.sessionEpoch != prepared.client.sessionEpoch)
        #expect(file.lastSeenAt == prepared.world.clock.wallClock.millisecondsSince1970())
        #expect(try await prepared.world.stored(file) == file)
    }

    @Test("Everything else is refused with its own code")
    func bad() async throws {
        let prepared = try await Prepared()
        let client = prepared.client.salted
        func salted(_ version: UInt64, _ salt: Salt? = nil) -> SaltedServerVersion {
            SaltedServerVersion(
                version: ServerVersion(version),
                salt: salt ?? prepared.latest.salt
            )
        }
        // 0: a version that is not there, even for an unknown file.
        #expect(await prepared.fault(latest: salted(3)) == .badServerVersion)
        let unknown = SaltedFileIdent(ident: FileIdent(77), salt: client.salt)
        #expect(await prepared.fault(ident: unknown, latest: salted(3)) == .badServerVersion)
        // 1
        for ident in [UInt64(0), 1, 77] {
            let file = SaltedFileIdent(ident: FileIdent(ident), salt: client.salt)
            #expect(await prepared.fault(ident: file) == .badClientFileIdent)
        }
        // 2
        for salt in [Salt.none, Salt(client.salt.rawValue ^ 1)] {
            let file = SaltedFileIdent(ident: client.ident, salt: salt)
            #expect(await prepared.fault(ident: file) == .divergingHistories)
        }
        // 3: it was further before.
        #expect(await prepared.fault(at: downloadCursor(0, 0)) == .badServerVersion)
        // 5, 7
        #expect(await prepared.fault(at: downloadCursor(3, 0)) == .badServerVersion)
        #expect(
            await prepared.fault(at: downloadCursor(2, 0), latest: salted(1)) == .badServerVersion
        )
        // 6
        #expect(await prepared.fault(at: downloadCursor(1, 5)) == .badClientVersion)
        // 8
        #expect(await prepared.fault(latest: salted(2, Salt(5))) == .divergingHistories)
        #expect(await prepared.fault(latest: salted(2, Salt.none)) == .divergingHistories)
        // 9
        #expect(await prepared.fault(as: UserID("bob")) == .userMismatch)
        #expect(await prepared.fault() == nil)
    }

    @Test(
        "A copy from before a termination is detected, with any version numbers"
    )
    func copyOfOlderGeneration() async throws {
        let prepared = try await Prepared()
        let world = prepared.world
        try await world.engine.upkeep.terminate(ServerFileWorld.app)
        // As many versions again, and a copy that has got an ident of its own.
        let other = try await world.client()
        try await world.upload([upload(2, on: 0), upload(3, on: 0)], by: other)
        let copy = try await world.client()
        let latest = try await world.scan(for: copy).progress.latestServerVersion
        #expect(latest.version >= prepared.latest.version)
        #expect(await prepared.fault(ident: copy.salted) == .divergingHistories)
    }

    @Test("4: an expired file")
    func expired() async throws {
        let prepared = try await Prepared()
        var client = prepared.client
        client.isExpired = true
        client.upload = uploadCursor(4, 1)
        try await prepared.world.store.write { [client, file = prepared.world.file] in
            try $0.put(client, in: file)
        }
        #expect(await prepared.fault() == .clientFileExpired)
    }

    @Test("A refused IDENT does not fence the existing session")
    func noFencing() async throws {
        let prepared = try await Prepared()
        #expect(await prepared.fault(at: downloadCursor(0, 0)) != nil)
        try await prepared.world.upload(
            [upload(5, on: 1, Tasks.create(2, title: "y"))],
            by: prepared.client
        )
    }

    @Test("Idents are never given twice, and salts are not guessed from each other")
    func allocation() async throws {
        let world = try await ServerFileWorld()
        var idents: Set<FileIdent> = []
        var salts: Set<Salt> = []
        for _ in 0..<20 {
            let client = try await world.client()
            idents.insert(client.ident)
            salts.insert(client.salt)
        }
        #expect(idents == Set((2...21).map { FileIdent($0) }))
        #expect(salts.count == 20 && !salts.contains(.none))
    }
}
