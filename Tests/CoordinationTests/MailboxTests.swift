import Coordination
import Synchronization
import TestSupport
import Testing

@Suite("A queue without a bound", .timeLimit(.minutes(10)))
struct MailboxTests {
    @Test("A task that waits gets what is put in, and then the end")
    func waiting() async {
        let mailbox = Mailbox<Int>()
        async let first = mailbox.takeAll()
        mailbox.put(1)
        var taken = await first
        mailbox.put(2)
        mailbox.finish()
        while taken.count < 2 { taken += await mailbox.takeAll() }
        #expect(taken == [1, 2])
        #expect(await mailbox.takeAll() == [])
        #expect(!mailbox.put(3))
        #expect(await mailbox.takeAll() == [])
    }

    @Test("The end wakes a task that waits; a cleared mailbox loses what is in it")
    func ends() async {
        let (finished, cleared) = (Mailbox<Int>(), Mailbox<Int>())
        async let last = finished.takeAll()
        finished.finish()
        #expect(await last == [])
        cleared.put(1)
        cleared.clear()
        cleared.finish()
        #expect(await cleared.takeAll() == [])
    }

    @Test("Of many producers each element arrives once, those of one in order")
    func producers() async {
        let mailbox = Mailbox<(producer: Int, number: Int)>()
        await withTaskGroup { group in
            for producer in 0..<8 {
                group.addTask {
                    for number in 0..<500 {
                        mailbox.put((producer, number))
                        if number.isMultiple(of: 50) { await Task.yield() }
                    }
                }
            }
            var next = [Int](repeating: 0, count: 8)
            while next.reduce(0, +) < 4_000 {
                for (producer, number) in await mailbox.takeAll() {
                    #expect(number == next[producer])
                    next[producer] = number + 1
                }
            }
        }
    }
}
