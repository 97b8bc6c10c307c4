import Coordination
import SyncClient
import Synchronization
import Testing

@testable import RealmSync

@Suite("Work on an open realm")
struct OpenRealmWorkTests {
    private final class End: Sendable {
        let isReached = Mutex(false)
    }

    private static func carryOut(_ work: OpenRealmWork<Int>) async {
        await Duties([work.duty(with: 7)], .continuous).carryOut()
        work.close()
    }

    /// Waits until its task is cancelled.
    private static func untilCancelled() async -> Bool {
        await Signal().wait()
        return Task.isCancelled
    }

    @Test("is done with the open client, and returns its result")
    func result() async {
        let work = OpenRealmWork<Int>()
        work.open()
        await withTaskGroup { group in
            group.addTask { await Self.carryOut(work) }
            #expect(await work.perform { $0 * 2 } == 14)
            group.cancelAll()
        }
    }

    @Test("is not done on a closed realm")
    func closed() async {
        let work = OpenRealmWork<Int>()
        #expect(await work.perform { $0 } == nil)
        work.open()
        let end = Task { await Self.carryOut(work) }
        end.cancel()
        await end.value
        #expect(await work.perform { $0 } == nil)
    }

    @Test("ends when the realm closes, which waits for it")
    func closing() async {
        let work = OpenRealmWork<Int>()
        let (hasBegun, end) = (Signal(), End())
        work.open()
        let running = Task { await Self.carryOut(work) }
        let caller = Task {
            await work.perform { _ in
                hasBegun.raise()
                let isCancelled = await Self.untilCancelled()
                end.isReached.withLock { $0 = true }
                return isCancelled
            }
        }
        await hasBegun.wait()
        running.cancel()
        await running.value
        #expect(end.isReached.withLock { $0 })
        #expect(await caller.value == true)
    }

    @Test("that has not begun when the realm closes is not done")
    func abandoned() async {
        let work = OpenRealmWork<Int>()
        work.open()
        let caller = Task { await work.perform { $0 } }
        let running = Task {
            // Begins cancelled, so that it takes no work.
            withUnsafeCurrentTask { $0?.cancel() }
            await Self.carryOut(work)
        }
        await running.value
        #expect(await caller.value == nil)
    }

    @Test("ends when its caller is cancelled")
    func cancelledCaller() async {
        let work = OpenRealmWork<Int>()
        let hasBegun = Signal()
        work.open()
        await withTaskGroup { group in
            group.addTask { await Self.carryOut(work) }
            let caller = Task {
                await work.perform { _ in
                    hasBegun.raise()
                    return await Self.untilCancelled()
                }
            }
            await hasBegun.wait()
            caller.cancel()
            #expect(await caller.value == true)
            group.cancelAll()
        }
    }
}
