import SyncProtocol
import Testing
import Versions

@Suite("A server's checks of an IDENT")
struct IdentCheckTests {
    /// A file that is bound correctly, and the ways in which it can be wrong.
    struct Case {
        var ident: UInt64 = 2
        var salt: UInt64 = 77
        var scan: (UInt64, UInt64) = (8, 4)
        var latest: (UInt64, UInt64) = (9, 5)

        var currentVersion: UInt64 = 10
        var isKnown = true
        var storedSalt: UInt64 = 77
        var isOfOlderGeneration = false
        var belongsToUser = true
        var isExpired = false
        var upload: (UInt64, UInt64) = (6, 3)
        var saltOfLatestVersion: UInt64? = 5

        var fault: SessionFault? {
            let message = ClientMessage.Ident(
                session: 1,
                file: fileIdent(ident, salt: salt),
                download: downloadCursor(scan.0, scan.1),
                latestServerVersion: SaltedServerVersion(
                    version: ServerVersion(latest.0),
                    salt: Salt(latest.1)
                )
            )
            let file = IdentCheck.KnownFile(
                salt: Salt(storedSalt),
                isOfOlderGeneration: isOfOlderGeneration,
                belongsToUser: belongsToUser,
                isExpired: isExpired,
                upload: uploadCursor(upload.0, upload.1)
            )
            let check = IdentCheck(
                currentVersion: ServerVersion(currentVersion),
                file: isKnown ? file : nil,
                saltOfLatestVersion: saltOfLatestVersion.map { Salt($0) }
            )
            do {
                try check.verify(message)
                return nil
            } catch {
                return error
            }
        }
    }

    private func fault(_ change: (inout Case) -> Void) -> SessionFault? {
        var example = Case()
        change(&example)
        return example.fault
    }

    @Test("A known file, and a new one, may sync")
    func good() {
        #expect(Case().fault == nil)
        #expect(
            fault {
                $0.scan = (0, 0)
                $0.latest = (0, 0)
                $0.upload = (0, 0)
                $0.saltOfLatestVersion = nil
            } == nil
        )
    }

    @Test("Every rule has its code")
    func rules() {
        #expect(fault { $0.isOfOlderGeneration = true } == .badClientFileIdent)
        #expect(fault { $0.latest.0 = 11 } == .badServerVersion)
        #expect(fault { $0.isKnown = false } == .badClientFileIdent)
        #expect(fault { $0.ident = 1 } == .badClientFileIdent)
        #expect(fault { $0.ident = 0 } == .badClientFileIdent)
        #expect(fault { $0.belongsToUser = false } == .userMismatch)
        #expect(fault { $0.salt = 78 } == .divergingHistories)
        #expect(
            fault {
                $0.salt = 0
                $0.storedSalt = 0
            } == .divergingHistories
        )
        #expect(fault { $0.upload.1 = 9 } == .badServerVersion)
        #expect(fault { $0.isExpired = true } == .clientFileExpired)
        #expect(fault { $0.scan.1 = 7 } == .badClientVersion)
        #expect(fault { $0.scan.0 = 11 } == .badServerVersion)
        #expect(fault { $0.scan.0 = 10 } == .badServerVersion)
        #expect(fault { $0.latest.1 = 6 } == .divergingHistories)
        #expect(fault { $0.saltOfLatestVersion = nil } == .divergingHistories)
        #expect(
            fault {
                $0.scan = (0, 0)
                $0.upload = (0, 0)
                $0.latest = (0, 5)
            } == .divergingHistories
        )
    }

    @Test("The order of the rules is the reference's")
    func order() {
        // A server that lost everything: the version counts before the ident.
        #expect(
            fault {
                $0.isKnown = false
                $0.currentVersion = 0
            } == .badServerVersion
        )
        #expect(
            fault {
                $0.isOfOlderGeneration = true
                $0.currentVersion = 0
            } == .badClientFileIdent
        )
        #expect(
            fault {
                $0.upload.1 = 9
                $0.isExpired = true
            } == .badServerVersion
        )
        #expect(
            fault {
                $0.isExpired = true
                $0.scan.1 = 7
            } == .clientFileExpired
        )
        #expect(
            fault {
                $0.belongsToUser = false
                $0.salt = 1
            } == .userMismatch
        )
    }
}
