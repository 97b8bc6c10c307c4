import Control
import FoundationEssentials
import TestSupport
import Testing

@testable import Agent

@Suite("The progress of a copy", .timeLimit(.minutes(10)))
struct CopyWatchTests {
    @Test("The sizes of the unfinished copy and of its source are reported until it is finished")
    func sizes() async throws {
        let directory = try TemporaryDirectory()
        let (source, copy) = (directory.file("a.sqlite"), directory.file("b.sqlite"))
        try Data(repeating: 1, count: 9).write(to: URL(filePath: source))
        let (reports, note) = AsyncStream.makeStream(of: CopyProgress.self)
        let watch = CopyWatch(source: source, destination: copy) { note.yield($0) }
        try await watch.during { () -> Result<Void, any Error> in
            var seen = reports.makeAsyncIterator()
            #expect(await seen.next() == CopyProgress(writtenBytes: 0, sourceBytes: 9))
            let result = Result {
                try Data(repeating: 1, count: 4).write(to: URL(filePath: "\(copy).partial"))
            }
            while let report = await seen.next(), report.writtenBytes == 0 {}
            return result
        }.get()
        note.finish()
    }
}
