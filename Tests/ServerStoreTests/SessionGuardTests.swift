import ServerStore
import Testing
import Versions

@Suite("The guard against a database that went back")
struct SessionGuardTests {
    private let told = guardOf(clientVersion: 40, newest: salted(105, 9))

    private static func guardOf(
        clientVersion: UInt64,
        newest: SaltedServerVersion?
    ) -> SessionGuard {
        SessionGuard(
            client: ClientFileID(file: ServerFileID(1), ident: FileIdent(2)),
            generation: 3,
            clientVersion: ClientVersion(clientVersion),
            sessionEpoch: 5,
            newest: newest
        )
    }

    private static func salted(_ version: UInt64, _ salt: UInt64) -> SaltedServerVersion {
        SaltedServerVersion(version: ServerVersion(version), salt: Salt(salt))
    }

    private func stored(
        generation: UInt64 = 3,
        client: UInt64 = 40,
        epoch: UInt64 = 5,
        current: UInt64 = 105,
        base: SaltedServerVersion = salted(3, 1),
        salt: UInt64? = 9
    ) -> SessionGuard.Stored {
        SessionGuard.Stored(
            generation: generation,
            clientVersion: ClientVersion(client),
            sessionEpoch: epoch,
            currentVersion: ServerVersion(current),
            base: base,
            newestSalt: salt.map { Salt($0) }
        )
    }

    @Test("What was told is still there, also with more behind it")
    func unchanged() {
        #expect(told.verdict(on: stored()) == .unchanged)
        #expect(told.verdict(on: stored(client: 41, current: 300)) == .unchanged)
    }

    @Test("The client file is gone, or bound elsewhere")
    func elsewhere() {
        #expect(told.verdict(on: nil) == .changed(.clientFileIsGone))
        #expect(told.verdict(on: stored(epoch: 6)) == .changed(.otherEpoch))
    }

    @Test("Acknowledged uploads are lost: another upload would leave a hole")
    func lostUploads() {
        #expect(told.verdict(on: stored(client: 39)) == .changed(.lostUploads))
    }

    @Test("Versions that the client knows are lost, or were written again")
    func lostVersions() {
        #expect(told.verdict(on: stored(current: 100, salt: nil)) == .changed(.lostVersions))
        #expect(told.verdict(on: stored(current: 107, salt: 8)) == .changed(.otherHistory))
        // Not in the history although it lies within: nothing proves it.
        #expect(told.verdict(on: stored(current: 107, salt: nil)) == .changed(.otherHistory))
    }

    @Test("A trimmed history proves the version that it begins behind, and none before")
    func trimmed() {
        let atBase = stored(current: 200, base: Self.salted(105, 9), salt: nil)
        #expect(told.verdict(on: atBase) == .unchanged)
        let otherBase = stored(current: 200, base: Self.salted(105, 8), salt: nil)
        #expect(told.verdict(on: otherBase) == .changed(.otherHistory))
        let beyond = stored(current: 200, base: Self.salted(106, 8), salt: nil)
        #expect(told.verdict(on: beyond) == .changed(.trimmed))
    }

    @Test("A session that was told no version yet has only its uploads and its epoch")
    func nothingTold() {
        for newest in [nil, Self.salted(0, 0)] {
            let fresh = Self.guardOf(clientVersion: 0, newest: newest)
            #expect(fresh.verdict(on: stored(current: 0, salt: nil)) == .unchanged)
            #expect(fresh.verdict(on: stored(epoch: 4)) == .changed(.otherEpoch))
        }
    }

    @Test("A history that was begun again is the body's to refuse")
    func otherGeneration() {
        let begun = stored(generation: 4, client: 0, epoch: 6, current: 1, salt: nil)
        #expect(told.verdict(on: begun) == .unchanged)
    }

    @Test("What a session integrates and is told counts from then on, and never less")
    func notes() {
        var told = told
        told.noteIntegrated(upTo: ClientVersion(41))
        told.noteIntegrated(upTo: ClientVersion(39))
        #expect(told.verdict(on: stored()) == .changed(.lostUploads))
        #expect(told.verdict(on: stored(client: 41)) == .unchanged)
        told.noteTold(Self.salted(107, 2))
        told.noteTold(Self.salted(106, 1))
        #expect(told.verdict(on: stored(client: 41)) == .changed(.lostVersions))
        #expect(told.verdict(on: stored(client: 41, current: 107, salt: 2)) == .unchanged)
    }

    @Test("A change is an error of the store that names the client file")
    func failure() throws {
        try told.verify(stored())
        let error = #expect(throws: StoreError.self) { try told.verify(nil) }
        #expect(error?.kind == .changed)
        #expect(error?.code == "store.changed")
        #expect(
            error?.message == "client file 2 of server file 1: the store no longer has it"
        )
    }
}
