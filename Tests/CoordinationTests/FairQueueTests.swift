import Coordination
import TestSupport
import Testing

@Suite("Fair queue")
struct FairQueueTests {
    @Test("Sources take turns, each in its own order")
    func turns() {
        var queue = FairQueue<String, Int>(capacity: 10)
        for number in 1...4 { #expect(queue.append(number, from: "a") == nil) }
        #expect(queue.append(10, from: "b") == nil)
        #expect(queue.append(11, from: "b") == nil)
        #expect(queue.append(20, from: "c") == nil)
        var order: [Int] = []
        while let element = queue.next() { order.append(element) }
        #expect(order == [1, 10, 20, 2, 11, 3, 4])
        #expect(queue.count == 0)
    }

    @Test("When it is full, the source with the most elements loses its latest")
    func overflow() {
        var queue = FairQueue<String, Int>(capacity: 4)
        for number in 1...4 { #expect(queue.append(number, from: "flood") == nil) }
        #expect(queue.append(5, from: "flood") == 5)
        #expect(queue.append(100, from: "other") == 4)
        #expect(queue.append(101, from: "other") == 3)
        // As many as the other: the newcomer loses.
        #expect(queue.append(102, from: "other") == 102)
        #expect(queue.append(200, from: "third") == 101 || queue.count == 4)
        #expect(queue.count == 4)
        #expect(queue.next() == 1)
        #expect(queue.next() == 100)
    }

    @Test("An emptied source is removed, and may return", arguments: UInt64(0)..<50)
    func bookkeeping(seed: UInt64) {
        var random = SplitMix64(seed: seed)
        var queue = FairQueue<Int, Int>(capacity: 8)
        var present: Set<Int> = []
        for number in 0..<500 {
            if Bool.random(using: &random) {
                present.insert(number)
                let refused = queue.append(number, from: Int.random(in: 0..<4, using: &random))
                if let refused { #expect(present.remove(refused) != nil) }
            } else if let element = queue.next() {
                #expect(present.remove(element) != nil)
            } else {
                #expect(present.isEmpty)
            }
            #expect(queue.count == present.count)
            #expect(queue.count <= 8)
        }
        while let element = queue.next() { #expect(present.remove(element) != nil) }
        #expect(present.isEmpty)
    }
}
