import Coordination
import Synchronization
import Testing

@Suite("A signal wakes one waiting task, and no wake-up is lost", .timeLimit(.minutes(10)))
struct SignalTests {
    @Test("Raised before a wait, it wakes the next waiter, once")
    func raisedFirst() async {
        let signal = Signal()
        signal.raise()
        signal.raise()
        #expect(await signal.wait())
        let second = Task { await signal.wait() }
        second.cancel()
        #expect(await !second.value)
    }

    @Test("Raised during a wait, it wakes the waiter")
    func raisedLater() async {
        let signal = Signal()
        let waiter = Task { await signal.wait() }
        signal.raise()
        #expect(await waiter.value)
    }

    @Test("A cancelled wait ends, and leaves later signals to later waiters")
    func cancelled() async {
        let signal = Signal()
        let waiter = Task { await signal.wait() }
        waiter.cancel()
        #expect(await !waiter.value)
        signal.raise()
        #expect(await signal.wait())
    }

    @Test("Cancelling and raising at once never loses the signal, and never resumes twice")
    func race() async {
        for _ in 0..<2_000 {
            let signal = Signal()
            let waiter = Task { await signal.wait() }
            async let cancellation: Void = waiter.cancel()
            signal.raise()
            await cancellation
            // A waiter that missed the signal finds it still raised.
            if await !waiter.value { #expect(await signal.wait()) }
        }
    }

    @Test("The timeout ends the wait")
    func timeOut() async {
        let signal = Signal()
        #expect(await !signal.wait {})
        signal.raise()
        #expect(await signal.wait { try await Task.sleep(for: .seconds(600)) })
    }

    @Test("A signal at the end of the timeout counts: for this wait or the next")
    func lastMoment() async {
        for _ in 0..<2_000 {
            let signal = Signal()
            async let raising: Void = signal.raise()
            let isRaised = await signal.wait {}
            await raising
            if !isRaised { #expect(await signal.wait()) }
        }
    }

    @Test("An action follows each raise, the one before it included, until it is unfollowed")
    func followed() async {
        let signal = Signal()
        let count = Mutex(0)
        signal.raise()
        signal.follow { count.withLock { $0 += 1 } }
        #expect(count.withLock { $0 } == 1)
        signal.raise()
        signal.raise()
        #expect(count.withLock { $0 } == 3)
        signal.unfollow()
        signal.raise()
        #expect(count.withLock { $0 } == 3)
        #expect(await signal.wait())
    }
}
