import PostgreSQL
import PostgreSQLServerStore
import TestSupport
import Testing

@Suite("The rules of a pool of lanes")
struct LanePoolTests {
    private let now = ContinuousClock.now

    private func take(_ pool: inout LanePool<Int>) -> Int? {
        if case .run(let job) = pool.nextTurn() { job } else { nil }
    }

    private func sleeps(_ pool: inout LanePool<Int>) -> Bool {
        if case .sleep = pool.nextTurn() { true } else { false }
    }

    private func ends(_ pool: inout LanePool<Int>) -> Bool {
        if case .end = pool.nextTurn() { true } else { false }
    }

    @Test("Lanes start for jobs up to their limit, then jobs wait, in order")
    func limits() {
        var pool = LanePool<Int>(limits: .init(lanes: 2, waiting: 4))
        #expect(pool.submit(0, at: now) == .startsLane)
        #expect(pool.submit(1, at: now) == .startsLane)
        #expect(take(&pool) == 0)
        #expect(take(&pool) == 1)
        for job in 2..<6 { #expect(pool.submit(job, at: now) == .waits) }
        #expect(pool.submit(6, at: now) == .refused)
        #expect(pool.waitingCount == 4)
        #expect((0..<4).map { _ in take(&pool) } == [2, 3, 4, 5])
        #expect(sleeps(&pool) == true)
        #expect(pool.laneCount == 2)
    }

    @Test("A lane that comes too late for a job, and has no connection, ends")
    func withoutConnection() {
        var pool = LanePool<Int>(limits: .init(lanes: 2))
        #expect(pool.submit(0, at: now) == .startsLane)
        #expect(pool.submit(1, at: now) == .startsLane)
        // The first lane does both jobs before the second one's thread runs.
        #expect(take(&pool) == 0)
        #expect(take(&pool) == 1)
        #expect(sleeps(&pool) == true)
        guard case .end = pool.nextTurn(isConnected: false) else {
            Issue.record("a lane without connection and job sleeps")
            return
        }
        #expect(pool.laneCount == 1)
        #expect(!pool.hasEnded)
        #expect(pool.submit(2, at: now) == .wakesLane)
        #expect(pool.submit(3, at: now) == .startsLane)
    }

    @Test("A lane that sleeps is woken once for each job")
    func waking() {
        var pool = LanePool<Int>(limits: .init(lanes: 3))
        #expect(pool.submit(0, at: now) == .startsLane)
        #expect(take(&pool) == 0)
        #expect(sleeps(&pool) == true)
        #expect(pool.submit(1, at: now) == .wakesLane)
        // The only sleeper is on its way already.
        #expect(pool.submit(2, at: now) == .startsLane)
        pool.wokeUp()
        #expect(take(&pool) == 1)
        #expect(take(&pool) == 2)
        #expect(sleeps(&pool) == true)
        #expect(pool.submit(3, at: now) == .wakesLane)
    }

    @Test("A server with too many connections leaves the pool with the lanes that have one")
    func shrinking() {
        var pool = LanePool<Int>(limits: .init(lanes: 3, waiting: 9, shrinkTime: .seconds(30)))
        #expect(pool.submit(0, at: now) == .startsLane)
        #expect(pool.submit(1, at: now) == .startsLane)
        #expect(take(&pool) == 0)
        #expect(take(&pool) == 1)
        #expect(pool.submit(2, at: now) == .startsLane)
        // The second lane gets no connection: its job goes first, on another lane.
        #expect(pool.shrink(returning: 1, at: now) == true)
        #expect(pool.laneCount == 2)
        #expect(pool.submit(3, at: now + .seconds(29)) == .waits)
        #expect((0..<3).map { _ in take(&pool) } == [1, 2, 3])
        #expect(pool.submit(4, at: now + .seconds(30)) == .startsLane)
    }

    @Test("The last lane does not end: its job fails, and the next one tries again")
    func lastLane() {
        var pool = LanePool<Int>(limits: .init(lanes: 3))
        #expect(pool.submit(0, at: now) == .startsLane)
        #expect(take(&pool) == 0)
        #expect(pool.shrink(returning: 0, at: now) == false)
        #expect(pool.laneCount == 1)
        #expect(sleeps(&pool) == true)
        #expect(pool.submit(1, at: now) == .wakesLane)
    }

    @Test("A thread that does not start leaves its job to others, or hands it back")
    func withoutThreads() {
        var pool = LanePool<Int>(limits: .init(lanes: 2))
        #expect(pool.submit(0, at: now) == .startsLane)
        #expect(pool.submit(1, at: now) == .startsLane)
        #expect(pool.laneDidNotStart() == [])
        #expect(pool.laneDidNotStart() == [0, 1])
        #expect(pool.laneCount == 0)
        #expect(pool.submit(2, at: now) == .startsLane)
    }

    @Test("A closed pool hands back what waits, refuses the rest, and its lanes end")
    func closing() {
        var pool = LanePool<Int>(limits: .init(lanes: 2))
        #expect(pool.submit(0, at: now) == .startsLane)
        #expect(take(&pool) == 0)
        #expect(pool.submit(1, at: now) == .startsLane)
        #expect(take(&pool) == 1)
        #expect(sleeps(&pool) == true)
        #expect(pool.submit(2, at: now) == .wakesLane)
        #expect(pool.submit(3, at: now) == .waits)
        let closed = pool.close()
        #expect(closed.jobs == [2, 3])
        // One sleeper is on its way.
        #expect(closed.sleeping == 0)
        #expect(pool.submit(4, at: now) == .closed)
        pool.wokeUp()
        #expect(ends(&pool) == true)
        #expect(!pool.hasEnded)
        #expect(pool.shrink(returning: 0, at: now) == false)
        #expect(ends(&pool) == true)
        #expect(pool.hasEnded)
    }

    @Test("A closed pool wakes those that sleep")
    func closingAsleep() {
        var pool = LanePool<Int>(limits: .init(lanes: 2))
        #expect(pool.submit(0, at: now) == .startsLane)
        #expect(take(&pool) == 0)
        #expect(sleeps(&pool) == true)
        #expect(pool.close().sleeping == 1)
        pool.wokeUp()
        #expect(ends(&pool) == true)
        #expect(pool.hasEnded)
    }
}
