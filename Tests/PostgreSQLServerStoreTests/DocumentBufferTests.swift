import PostgreSQLServerStore
import Testing

@Suite("Documents of a transaction")
struct DocumentBufferTests {
    private let row = ObjectRow(className: [65], storedKey: [2, 1])
    private let other = ObjectRow(className: [65], storedKey: [2, 2])

    @Test("The open layer is seen first, then what bodies kept, then what was read")
    func order() {
        var buffer = DocumentBuffer()
        #expect(buffer.content(of: row) == nil)
        buffer.note(.document([1]), of: row)
        #expect(buffer.content(of: row) == .document([1]))
        buffer.beginLayer()
        buffer.write(.document([2]), to: row)
        #expect(buffer.content(of: row) == .document([2]))
        buffer.keepLayer()
        buffer.beginLayer()
        #expect(buffer.content(of: row) == .document([2]))
        buffer.write(.absent, to: row)
        #expect(buffer.content(of: row) == .absent)
        buffer.dropLayer()
        #expect(buffer.content(of: row) == .document([2]))
        #expect(buffer.content(of: other) == nil)
    }

    @Test("A body that throws leaves nothing to send, and its neighbours keep theirs")
    func layers() {
        var buffer = DocumentBuffer()
        for (number, isKept) in [(UInt8(1), true), (2, false), (3, true)] {
            buffer.beginLayer()
            buffer.write(.document([number]), to: number == 3 ? other : row)
            if isKept { buffer.keepLayer() } else { buffer.dropLayer() }
        }
        #expect(buffer.changes.map(\.row) == [row, other])
        #expect(buffer.changes.map(\.content) == [.document([1]), .document([3])])
        buffer.didSend()
        #expect(buffer.isEmpty)
        #expect(buffer.changes.isEmpty)
        #expect(buffer.content(of: row) == .document([1]))
    }

    @Test("An object that comes and goes in one transaction is not sent")
    func nothingToSend() {
        var buffer = DocumentBuffer()
        buffer.note(.absent, of: row)
        buffer.note(.document([1]), of: other)
        buffer.beginLayer()
        buffer.write(.document([2]), to: row)
        buffer.write(.absent, to: row)
        buffer.write(.document([1]), to: other)
        buffer.keepLayer()
        #expect(buffer.changes.isEmpty)
        #expect(buffer.steps(in: 1).isEmpty)
    }

    @Test("Rows are told apart by class and key, and ordered as the index is")
    func rows() {
        let long = [UInt8](repeating: 2, count: 600)
        let rows = [
            ObjectRow(className: [65], storedKey: [2]),
            ObjectRow(className: [65], storedKey: [2, 0]),
            ObjectRow(className: [65], storedKey: [3]), ObjectRow(className: [65], storedKey: long),
            ObjectRow(className: [65, 0], storedKey: [2]),
            ObjectRow(className: [66], storedKey: [2]),
        ]
        #expect(rows.shuffled().sorted() == rows)
        #expect(Set(rows + rows).count == rows.count)
        #expect(rows[3].key.storedKey == long)
    }

    @Test("Statements are bounded: 10 000 rows, 16 MiB")
    func portions() {
        var buffer = DocumentBuffer()
        buffer.beginLayer()
        for number in 0..<25_000 {
            let key = [2, UInt8(number / 256), UInt8(number % 256)]
            let row = ObjectRow(className: [65], storedKey: key)
            buffer.write(number < 24_000 ? .document([49]) : .absent, to: row)
        }
        buffer.keepLayer()
        // The third portion writes and removes.
        #expect(buffer.steps(in: 1).count == 4)
        buffer.didSend()
        buffer.beginLayer()
        for number in UInt8(0)..<5 {
            let document = [UInt8](repeating: 49, count: 6 << 20)
            buffer.write(.document(document), to: ObjectRow(className: [65], storedKey: [number]))
        }
        buffer.keepLayer()
        #expect(buffer.steps(in: 1).count == 3)
    }
}
