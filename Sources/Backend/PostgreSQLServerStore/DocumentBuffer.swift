import PostgreSQL

/// Documents that a transaction has read and written, before they are sent to the database (server on
/// PostgreSQL, 2).
///
/// Bodies that share a transaction write into layers: a body that throws loses its layer, and the others
/// keep theirs. Reads see the open layer first, then what earlier bodies kept, then what was read.
package struct DocumentBuffer: Sendable {
    package enum Content: Hashable, Sendable {
        case document([UInt8])
        /// There is no such object.
        case absent
    }

    /// The contents of the database, as the transaction read or sent them.
    private var read: [ObjectRow: Content] = [:]
    private var kept: [ObjectRow: Content] = [:]
    private var layer: [ObjectRow: Content]?
    /// At least the size of the documents that are here: what was overwritten counts, too.
    private(set) package var sizeInBytes = 0

    package init() {}

    /// Whether the transaction has nothing to send.
    package var isEmpty: Bool { kept.isEmpty }

    /// Remembers the content of the database.
    package mutating func note(_ content: Content, of row: ObjectRow) {
        read[row] = content
    }

    /// Nil if the database must be asked.
    package func content(of row: ObjectRow) -> Content? {
        layer?[row] ?? kept[row] ?? read[row]
    }

    // MARK: Layers

    /// The next body begins.
    package mutating func beginLayer() {
        precondition(layer == nil, "one body runs at a time")
        layer = [:]
    }

    /// The body returned: its writes count.
    package mutating func keepLayer() {
        guard let layer else { preconditionFailure("no body runs") }
        kept.merge(layer) { _, newer in newer }
        self.layer = nil
    }

    /// The body threw: its writes never happened.
    package mutating func dropLayer() {
        precondition(layer != nil, "no body runs")
        layer = nil
    }

    package mutating func write(_ content: Content, to row: ObjectRow) {
        precondition(layer != nil, "only bodies write")
        layer?[row] = content
        if case .document(let document) = content { sizeInBytes += document.count }
    }

    // MARK: Sending

    /// The writes of all bodies that returned, in the order of the table's index, without those that the
    /// database has already.
    package var changes: [(row: ObjectRow, content: Content)] {
        kept.filter { row, content in read[row] != content }
            .map { (row: $0.key, content: $0.value) }
            .sorted { $0.row < $1.row }
    }

    /// The writes were sent to the database, which holds them for this transaction.
    package mutating func didSend() {
        precondition(layer == nil, "a body runs")
        read.merge(kept) { _, newer in newer }
        kept = [:]
    }

    /// The statements for all writes, also those of a body that runs; the database then has them.
    mutating func takeSteps(in file: Int64) -> [Step] {
        let isInBody = layer != nil
        if isInBody { keepLayer() }
        let steps = steps(in: file)
        didSend()
        if isInBody { beginLayer() }
        return steps
    }

    /// Forgets what was read or sent; another statement changes it.
    mutating func forget() {
        precondition(kept.isEmpty && layer?.isEmpty ?? true, "all writes are sent")
        read = [:]
        sizeInBytes = 0
    }
}
