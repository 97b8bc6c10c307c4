import SyncProtocol
import Testing
import Versions

@Suite("A client's checks of a DOWNLOAD")
struct DownloadCheckTests {
    static let check = DownloadCheck(
        progress: progress(latest: 10, download: (8, 4), upload: (5, 3)),
        lastVersionAvailable: ClientVersion(7),
        fileIdent: FileIdent(2)
    )

    private func violation(
        _ header: SyncProgress,
        _ changesets: [DownloadChangeset] = []
    ) -> DownloadViolation? {
        guard case .download(let message) = download(1, header, changesets) else { return nil }
        do {
            try Self.check.verify(message)
            return nil
        } catch {
            return error
        }
    }

    @Test("Progress that is equal or higher is accepted")
    func good() {
        #expect(violation(Self.check.progress) == nil)
        #expect(
            violation(
                progress(latest: 12, download: (11, 6), upload: (7, 11)),
                [downloadChangeset(9, 4), downloadChangeset(11, 6)]
            ) == nil
        )
    }

    @Test("The upload cursor of the first DOWNLOAD may go back, but not behind removed history")
    func first() throws {
        var check = Self.check
        check.isFirst = true
        func isAccepted(_ header: SyncProgress) throws -> Bool {
            guard case .download(let message) = download(1, header, []) else { return false }
            return (try? check.verify(message)) != nil
        }
        #expect(try isAccepted(progress(latest: 10, download: (8, 4), upload: (4, 1))))
        #expect(try !isAccepted(progress(latest: 10, download: (8, 4), upload: (3, 1))))
        #expect(try !isAccepted(progress(latest: 10, download: (8, 3), upload: (4, 1))))
    }

    @Test("Every rule for the header")
    func header() {
        #expect(
            violation(progress(latest: 9, download: (8, 4), upload: (5, 3)))
                == .latestServerVersionDecreased
        )
        #expect(
            violation(progress(latest: 10, download: (8, 4), upload: (4, 3)))
                == .uploadClientVersionDecreased
        )
        #expect(
            violation(progress(latest: 10, download: (8, 4), upload: (8, 3)))
                == .uploadClientVersionNeverMade
        )
        #expect(
            violation(progress(latest: 10, download: (7, 4), upload: (5, 3)))
                == .downloadServerVersionDecreased
        )
        #expect(
            violation(progress(latest: 10, download: (11, 4), upload: (5, 3)))
                == .downloadServerVersionAboveLatest
        )
        #expect(
            violation(progress(latest: 10, download: (8, 3), upload: (5, 3)))
                == .downloadClientVersionDecreased
        )
        #expect(
            violation(progress(latest: 10, download: (9, 6), upload: (5, 3)))
                == .downloadClientVersionAboveUpload
        )
        #expect(
            violation(progress(latest: 10, download: (8, 4), upload: (5, 9)))
                == .uploadServerVersionAboveDownload
        )
    }

    @Test("Every rule for the changesets")
    func changesets() {
        let header = progress(latest: 12, download: (11, 5), upload: (6, 3))
        func first(_ changesets: DownloadChangeset...) -> DownloadViolation? {
            violation(header, changesets)
        }
        #expect(first(downloadChangeset(8, 4)) == .changesetServerVersion(ServerVersion(8)))
        #expect(first(downloadChangeset(0, 4)) == .changesetServerVersion(.zero))
        #expect(first(downloadChangeset(12, 4)) == .changesetServerVersion(ServerVersion(12)))
        #expect(
            first(downloadChangeset(9, 4), downloadChangeset(9, 4))
                == .changesetServerVersion(ServerVersion(9))
        )
        #expect(first(downloadChangeset(9, 3)) == .changesetClientVersion(ClientVersion(3)))
        #expect(first(downloadChangeset(9, 6)) == .changesetClientVersion(ClientVersion(6)))
        #expect(
            first(downloadChangeset(9, 5), downloadChangeset(10, 4))
                == .changesetClientVersion(ClientVersion(4))
        )
        #expect(first(downloadChangeset(9, 4, origin: 0)) == .changesetOrigin(.none))
        #expect(first(downloadChangeset(9, 4, origin: 2)) == .changesetOrigin(FileIdent(2)))
    }
}
