import Testing

@testable import RealmSync

@Suite("When a realm counts as open (features, O4 to O14)")
struct OpenRequirementTests {
    func verdict(
        _ download: OpenOptions.Download,
        timeout: Duration? = .seconds(30),
        first: Bool = false,
        now: Bool = false,
        after elapsed: Duration = .zero,
        offline: Bool = false
    ) -> OpenRequirement.Verdict {
        OpenRequirement(
            options: OpenOptions(download: download, timeout: timeout),
            isFirstDownloadFinished: first,
            hasDownloaded: now,
            elapsed: elapsed,
            isOffline: offline
        ).verdict
    }

    @Test("Never: open at once, with the present data")
    func never() {
        #expect(verdict(.never, after: .seconds(60), offline: true) == .open)
    }

    @Test("Once: after the first download ever, and one that was broken off does not count")
    func once() {
        #expect(verdict(.once) == .waiting)
        #expect(verdict(.once, first: true, offline: true) == .open)
        #expect(verdict(.once, after: .seconds(30)) == .timedOut(.seconds(30)))
        #expect(verdict(.once, timeout: nil, after: .seconds(9_999)) == .waiting)
    }

    @Test("Always: after a download of this opening, however much is here")
    func always() {
        #expect(verdict(.always, first: true, offline: true) == .waiting)
        #expect(verdict(.always, first: true, now: true) == .open)
        #expect(verdict(.always, first: true, after: .seconds(31)) == .timedOut(.seconds(30)))
    }

    @Test("Auto: as always, but earlier data suffices if the download fails")
    func auto() {
        #expect(verdict(.auto, first: true) == .waiting)
        #expect(verdict(.auto, first: true, offline: true) == .open)
        #expect(verdict(.auto, first: true, after: .seconds(30)) == .open)
        #expect(verdict(.auto, now: true) == .open)
        // There is nothing yet that could do.
        #expect(verdict(.auto, offline: true) == .waiting)
        #expect(verdict(.auto, after: .seconds(30)) == .timedOut(.seconds(30)))
    }
}
