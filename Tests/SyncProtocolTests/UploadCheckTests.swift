import SyncProtocol
import Testing
import Versions

@Suite("A server's checks of an UPLOAD")
struct UploadCheckTests {
    /// A session that resumed at upload cursor (5, 3), with the lock at 2.
    private var check = UploadCheck(
        threshold: uploadCursor(5, 3),
        lockedServerVersion: ServerVersion(2)
    )

    private func fault(
        _ message: ClientMessage.Upload,
        sent: UInt64 = 8,
        after previous: ClientMessage.Upload? = nil
    ) throws -> SessionFault? {
        var check = check
        if let previous { _ = try check.admit(previous, sent: ServerVersion(sent)) }
        do {
            _ = try check.admit(message, sent: ServerVersion(sent))
            return nil
        } catch {
            return error
        }
    }

    @Test("Changesets integrated in an earlier session are left out")
    func threshold() throws {
        var check = check
        let message = upload(
            (9, 4),
            locked: 3,
            [uploadChangeset(4, 2), uploadChangeset(5, 3), uploadChangeset(7, 3)]
        )
        let admitted = try check.admit(message, sent: ServerVersion(8))
        #expect(
            admitted
                == UploadCheck.Admitted(
                    changesets: [uploadChangeset(7, 3)],
                    progress: uploadCursor(9, 4),
                    lockedServerVersion: ServerVersion(3)
                )
        )
    }

    @Test("An UPLOAD without news needs no work, but a higher lock does")
    func nothingNew() throws {
        var check = check
        let old = upload((4, 2), locked: 2, [uploadChangeset(4, 2)])
        #expect(try check.admit(old, sent: ServerVersion(8)) == nil)
        let lock = upload((5, 3), locked: 4)
        let admitted = try check.admit(lock, sent: ServerVersion(8))
        #expect(admitted?.progress == uploadCursor(5, 3))
        #expect(admitted?.lockedServerVersion == ServerVersion(4))
        let empty = upload((6, 4), locked: 4)
        #expect(try check.admit(empty, sent: ServerVersion(8))?.changesets == [])
    }

    @Test("Every rule for the header has its code")
    func header() throws {
        let before = upload((7, 4), locked: 3)
        #expect(try fault(upload((7, 4), locked: 3), after: before) == nil)
        #expect(try fault(upload((6, 4), locked: 3), after: before) == .badClientVersion)
        #expect(try fault(upload((7, 9), locked: 3)) == .badServerVersion)
        #expect(try fault(upload((0, 1), locked: 3)) == .badServerVersion)
        #expect(try fault(upload((6, 2), locked: 3)) == .badServerVersion)
        #expect(try fault(upload((5, 4), locked: 3)) == .badServerVersion)
        #expect(try fault(upload((8, 3), locked: 3), after: before) == .badServerVersion)
        #expect(try fault(upload((7, 4), locked: 1)) == .badServerVersion)
        #expect(try fault(upload((7, 4), locked: 2), after: before) == .badServerVersion)
        #expect(try fault(upload((7, 4), locked: 9)) == .badServerVersion)
    }

    @Test("Every rule for the changesets has its code")
    func changesets() throws {
        func fault(_ changesets: UploadChangeset...) throws -> SessionFault? {
            try self.fault(upload((9, 5), locked: 2, changesets))
        }
        #expect(try fault(uploadChangeset(6, 3), uploadChangeset(9, 5)) == nil)
        #expect(try fault(uploadChangeset(0, 0)) == .badClientVersion)
        #expect(try fault(uploadChangeset(6, 3), uploadChangeset(6, 3)) == .badClientVersion)
        #expect(try fault(uploadChangeset(10, 5)) == .badClientVersion)
        #expect(try fault(uploadChangeset(7, 4), uploadChangeset(8, 3)) == .badServerVersion)
        #expect(try fault(uploadChangeset(6, 2)) == .badServerVersion)
        #expect(try fault(uploadChangeset(9, 4)) == .badServerVersion)
        #expect(try fault(uploadChangeset(8, 6)) == .badServerVersion)
        #expect(try fault(uploadChangeset(7, 4, origin: 2)) == .badOriginFileIdent)
        let before = upload((7, 4), locked: 2)
        let repeated = upload((9, 5), locked: 2, [uploadChangeset(7, 4)])
        #expect(try self.fault(repeated, after: before) == .badClientVersion)
    }
}
