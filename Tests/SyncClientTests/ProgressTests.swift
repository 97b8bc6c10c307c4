import Testing

@testable import SyncClient

@Suite("Progress is exact for uploads, honest for downloads (sync history, 10)")
struct ProgressTests {
    func report(
        up: (UInt64, UInt64) = (0, 0),
        down: (UInt64, UInt64) = (0, 0),
        estimates: (Double, Double) = (1, 1),
        version: UInt64 = 1
    ) -> TransferReport {
        TransferReport(
            uploaded: up.0,
            uploadable: up.1,
            uploadEstimate: estimates.0,
            downloaded: down.0,
            downloadable: down.1,
            downloadEstimate: estimates.1,
            localVersion: version
        )
    }

    @Test("Indefinitely: every change, none twice, and never an end")
    func indefinite() {
        var notifier = ProgressNotifier(.upload, .indefinite, localVersion: 5)
        let first = notifier.receive(report(up: (2, 4), estimates: (0.5, 1)))
        #expect(first == TransferProgress(transferred: 2, transferable: 4, estimate: 0.5))
        #expect(notifier.receive(report(up: (2, 4), estimates: (0.5, 1))) == nil)
        #expect(notifier.receive(report(up: (4, 4)))?.estimate == 1)
        #expect(notifier.receive(report(up: (4, 8), estimates: (0, 1)))?.transferable == 8)
        #expect(!notifier.isExpired)
    }

    @Test("Outstanding work: what comes later is not waited for, what came before counts")
    func outstanding() {
        var notifier = ProgressNotifier(.upload, .outstanding, localVersion: 3)
        // Of a time before the writes that were to be watched.
        #expect(notifier.receive(report(up: (9, 9), version: 2)) == nil)
        #expect(notifier.receive(report(up: (5, 10), version: 3))?.estimate == 0.5)
        let grown = notifier.receive(report(up: (8, 20), version: 4))
        #expect(grown == TransferProgress(transferred: 8, transferable: 10, estimate: 0.8))
        #expect(notifier.receive(report(up: (12, 20), version: 4))?.estimate == 1)
        #expect(notifier.isExpired)
        #expect(notifier.receive(report(up: (20, 20), version: 4)) == nil)
    }

    @Test("Without outstanding transfers the first report is the last")
    func nothingOutstanding() {
        var notifier = ProgressNotifier(.download, .outstanding, localVersion: 1)
        #expect(notifier.receive(report(down: (7, 7)))?.estimate == 1)
        #expect(notifier.isExpired)
    }

    @Test(
        "Durations are written as people write them",
        arguments: [
            (Duration.milliseconds(850), "850ms"), (.milliseconds(999), "999ms"),
            (.seconds(12), "12s"), (.milliseconds(59_600), "1m"), (.seconds(270), "4m 30s"),
            (.seconds(3_600), "1h"), (.seconds(7_505), "2h 5m"), (.seconds(-3), "0ms"),
        ]
    )
    func durations(duration: Duration, text: String) {
        #expect(duration.forPeople == text)
    }
}
