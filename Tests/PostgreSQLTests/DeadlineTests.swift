import Testing

@testable import PostgreSQL

@Suite("Deadlines")
struct DeadlineTests {
    @Test("Milliseconds are rounded up, and bounded")
    func milliseconds() {
        #expect(Deadline.after(.seconds(-5)).milliseconds == 0)
        #expect(Deadline.after(.seconds(-5)).hasPassed)
        #expect((4001...5000).contains(Deadline.after(.seconds(5)).milliseconds))
        #expect(Deadline.after(.seconds(1 << 40)).milliseconds == 1_000_000_000)
        #expect(Deadline.after(.microseconds(900)).milliseconds <= 1)
    }

    @Test("Attempts share the remaining time equally")
    func shares() {
        let share = Deadline.after(.seconds(60)).share(among: 3)
        #expect((.seconds(19)...(.seconds(20))).contains(share.remaining))
        #expect(Deadline.after(.seconds(60)).share(among: 0).remaining > .seconds(59))
    }
}
