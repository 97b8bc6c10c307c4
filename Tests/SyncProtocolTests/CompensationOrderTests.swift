import Changesets
import SyncProtocol
import TestSupport
import Testing
import Versions

@Suite("Order of rejected writes and downloads")
struct CompensationOrderTests {
    private func compensation(_ version: UInt64) -> CompensationOrder.Compensation {
        CompensationOrder.Compensation(
            rejected: SessionFault.RejectedUpdates(
                clientVersion: ClientVersion(version + 100),
                updates: [RejectedUpdate(className: "T", key: .int(1), reason: "no")]
            ),
            compensatedAt: ServerVersion(version)
        )
    }

    private func versions(_ errors: [CompensationOrder.Compensation]) -> [UInt64] {
        errors.map(\.compensatedAt.rawValue)
    }

    @Test(
        "After IDENT, those whose compensation the client lacks are sent again, in ascending order"
    )
    func stored() {
        var order = CompensationOrder(
            stored: [9, 3, 5, 7].map(compensation),
            cursor: ServerVersion(3)
        )
        #expect(versions(order.errors(beforeDownloadUpTo: ServerVersion(7))) == [5, 7])
        #expect(order.bootstrapWaitsFor == ServerVersion(9))
        order.didDownload(upTo: ServerVersion(7))
        #expect(versions(order.errors(beforeDownloadUpTo: ServerVersion(8))) == [])
        order.didDownload(upTo: ServerVersion(8))
        #expect(versions(order.errors(beforeDownloadUpTo: ServerVersion(20))) == [9])
        order.didDownload(upTo: ServerVersion(20))
        #expect(order.bootstrapWaitsFor == nil)
    }

    @Test("None is sent twice in a session, also if it is on record and comes from the upload")
    func once() {
        var order = CompensationOrder(stored: [compensation(5)], cursor: .zero)
        order.add(compensation(5))
        #expect(versions(order.errors(beforeDownloadUpTo: ServerVersion(6))) == [5])
        order.add(compensation(5))
        #expect(versions(order.errors(beforeDownloadUpTo: ServerVersion(6))) == [])
        order.didDownload(upTo: ServerVersion(6))
        order.add(compensation(5))
        #expect(order.bootstrapWaitsFor == nil)
        #expect(versions(order.errors(beforeDownloadUpTo: ServerVersion(9))) == [])
    }

    @Test("A fault has the code, the action and the versions of error 231")
    func fault() {
        let fault = compensation(5).fault
        #expect(fault.code == 231)
        #expect(!fault.endsSession)
        #expect(fault == .compensatingWrite(compensation(5).rejected, undoneAt: ServerVersion(5)))
    }

    @Test("The reference client accepts every order: its oldest error is never behind a download")
    func randomOrders() {
        for seed in UInt64(0)..<500 {
            var random = SplitMix64(seed: seed)
            let all = Set((0..<8).map { _ in UInt64.random(in: 1...40, using: &random) })
            var order = CompensationOrder(stored: [], cursor: .zero)
            var cursor: UInt64 = 0
            var written: UInt64 = 0
            var announced: [UInt64] = []
            var reported: [UInt64] = []
            while cursor < 40 {
                // The history grows; what was rejected on the way is on record.
                let next = UInt64.random(in: written...40, using: &random)
                for version in all.sorted() where version > written && version <= next {
                    order.add(compensation(version))
                }
                written = next
                if Int.random(in: 0..<6, using: &random) == 0 {
                    // The client comes back and has forgotten its errors.
                    order = CompensationOrder(
                        stored: all.filter { $0 <= written }.map(compensation),
                        cursor: ServerVersion(cursor)
                    )
                    announced = []
                }
                guard written > cursor else { continue }
                let end = UInt64.random(in: cursor + 1...written, using: &random)
                announced += versions(order.errors(beforeDownloadUpTo: ServerVersion(end)))
                #expect(announced == announced.sorted(), "seed \(seed)")
                #expect(announced.allSatisfy { $0 > cursor }, "seed \(seed)")
                order.didDownload(upTo: ServerVersion(end))
                cursor = end
                reported += announced.filter { $0 <= cursor }
                announced.removeAll { $0 <= cursor }
            }
            #expect(reported == all.sorted(), "seed \(seed)")
            #expect(order.bootstrapWaitsFor == nil, "seed \(seed)")
        }
    }
}
