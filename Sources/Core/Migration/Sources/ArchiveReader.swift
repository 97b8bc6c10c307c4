import BSON
import Changesets

/// The archive of a dump: a prelude, then blocks of documents that take turns (moving an app, 1.2).
struct ArchiveReader: Sendable {
    static let magic: [UInt8] = [0x6d, 0xe2, 0x99, 0x81]

    private var queue = ByteQueue()
    private var phase = Phase.magic
    private var checksums: [SourceCollection: CRC64] = [:]

    private enum Phase: Sendable {
        case magic
        /// The header, then a document for each collection.
        case prelude
        case betweenBlocks
        /// After the header of a block.
        case block(SourceCollection, isEnd: Bool)
    }

    mutating func read(
        _ bytes: [UInt8],
        isLast: Bool,
        _ visit: (SourceEvent) throws -> Void
    ) rethrows {
        queue.append(bytes)
        if case .magic = phase {
            guard queue.count >= 4 else { return }
            queue.remove(4)
            phase = .prelude
        }
        while true {
            let offset = queue.offset
            switch queue.nextDocument() {
            case .incomplete:
                if isLast { try finish(visit) }
                return
            case .damaged(let problem, let offset):
                return try visit(.damaged(problem: problem, offset: offset))
            case .terminator: phase = .betweenBlocks
            case .document(let document, let bytes):
                if let problem = try take(document, bytes, offset, visit) {
                    return try visit(.damaged(problem: problem, offset: offset))
                }
            }
        }
    }

    /// Returns the reason if the archive is damaged.
    private mutating func take(
        _ document: BSONDocument,
        _ bytes: ArraySlice<UInt8>,
        _ offset: UInt64,
        _ visit: (SourceEvent) throws -> Void
    ) rethrows -> String? {
        switch phase {
        case .magic, .prelude: return nil
        case .betweenBlocks:
            guard case .string(let database)? = document["db"],
                case .string(let name)? = document["collection"]
            else { return "a block names no collection" }
            let collection = SourceCollection(
                database: database.description,
                name: name.description
            )
            let isEnd = document["EOF"] == .bool(true)
            phase = .block(collection, isEnd: isEnd)
            guard isEnd else { return nil }
            let sum = checksums.removeValue(forKey: collection)?.value ?? CRC64().value
            guard case .int64(let expected)? = document["CRC"] else { return nil }
            return UInt64(bitPattern: expected) == sum
                ? nil : "the checksum of \(database).\(name) is wrong"
        case .block(_, isEnd: true): return "a document after the end of its collection"
        case .block(let collection, isEnd: false):
            checksums[collection, default: CRC64()].add(bytes)
            try visit(.document(collection, document, offset: offset))
            return nil
        }
    }

    private func finish(_ visit: (SourceEvent) throws -> Void) rethrows {
        let problem: String?
        switch phase {
        case .betweenBlocks where queue.count == 0:
            problem = checksums.isEmpty ? nil : "the archive lacks the end of a collection"
        case .magic, .prelude, .betweenBlocks, .block: problem = "the archive ends early"
        }
        if let problem { try visit(.damaged(problem: problem, offset: queue.offset)) }
    }
}
