import SyncProtocol
import Testing

@testable import SyncClient

@Suite("Turns to send")
struct SendTurnsTests {
    @Test("Each session that asked has one turn, in the order of asking, and may ask again")
    func order() {
        let turns = SendTurns()
        for session: SessionIdent in [3, 1, 3, 2] { turns.add(session) }
        #expect(turns.takeAll() == [3, 1, 2])
        #expect(turns.takeAll() == [])
        turns.add(3)
        #expect(turns.takeAll() == [3])
    }
}
