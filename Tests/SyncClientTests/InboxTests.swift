import SyncProtocol
import Testing

@testable import SyncClient

@Suite("Messages that wait for their realms")
struct InboxTests {
    @Test("Those of one session stay in order, and sessions take turns")
    func order() {
        var inbox = Inbox()
        for number in 1...3 { inbox.append([UInt8(number), 0], for: 1) }
        inbox.append([4], for: 2)
        #expect(inbox.sizeInBytes == 7)
        var delivered: [UInt8?] = []
        while let session = inbox.sessions.first {
            delivered.append(inbox.takeNext(of: session)?.first)
            inbox.delivered()
        }
        #expect(delivered == [1, 4, 2, 3])
        #expect(inbox.isEmpty)
        #expect(inbox.sizeInBytes == 0)
    }

    @Test("A message waits behind one that is being delivered")
    func underWay() {
        var inbox = Inbox()
        #expect(!inbox.holds(1))
        inbox.append([1], for: 1)
        #expect(inbox.holds(1))
        #expect(!inbox.holds(2))
        #expect(inbox.takeNext(of: 1) == [1])
        #expect(inbox.holds(1))
        #expect(!inbox.isEmpty)
        inbox.delivered()
        #expect(!inbox.holds(1))
        #expect(inbox.takeNext(of: 1) == nil)
    }
}
