import Testing
import Versions

@testable import SyncServer

@Suite("How long versions wait to be sent")
struct WaitingVersionsTests {
    private func version(_ number: Int) -> ServerVersion { ServerVersion(UInt64(number)) }

    @Test("The oldest version that is not sent counts, as earlier ones are sent")
    func oldest() {
        var waiting = WaitingVersions()
        #expect(waiting.oldest == nil)
        waiting.grew(to: version(3), at: 100)
        waiting.grew(to: version(5), at: 200)
        waiting.grew(to: version(5), at: 300)
        #expect(waiting.oldest == 100)
        waiting.sent(upTo: version(2))
        #expect(waiting.oldest == 100)
        waiting.sent(upTo: version(4))
        #expect(waiting.oldest == 200)
        waiting.sent(upTo: version(5))
        #expect(waiting.oldest == nil)
        // News of what was sent already.
        waiting.grew(to: version(5), at: 400)
        #expect(waiting.oldest == nil)
    }

    @Test("However often the file grows, few times are kept, and none is younger than it was")
    func bounded() {
        var waiting = WaitingVersions()
        for number in 1...1_000 {
            waiting.grew(to: version(number), at: Int64(number))
            #expect(waiting.count <= WaitingVersions.mostEntries)
        }
        #expect(waiting.oldest == 1)
        for number in 1..<1_000 {
            waiting.sent(upTo: version(number))
            guard let oldest = waiting.oldest else {
                Issue.record("version \(number + 1) is not sent")
                return
            }
            #expect(oldest <= number + 1)
        }
        // The last ones are told apart again.
        #expect((waiting.oldest ?? 0) > 900)
        waiting.sent(upTo: version(1_000))
        #expect(waiting.oldest == nil)
    }
}
