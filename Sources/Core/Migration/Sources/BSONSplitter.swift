import BSON

/// Documents one after the other.
struct BSONSplitter: Sendable {
    private let collection: SourceCollection
    private var queue = ByteQueue()

    init(_ collection: SourceCollection) {
        self.collection = collection
    }

    mutating func read(
        _ bytes: [UInt8],
        isLast: Bool,
        _ visit: (SourceEvent) throws -> Void
    ) rethrows {
        queue.append(bytes)
        while true {
            let offset = queue.offset
            switch queue.nextDocument() {
            case .document(let document, _):
                try visit(.document(collection, document, offset: offset))
            case .terminator:
                return try visit(
                    .damaged(problem: "a length of -1 is out of range", offset: offset)
                )
            case .damaged(let problem, let offset):
                return try visit(.damaged(problem: problem, offset: offset))
            case .incomplete:
                if isLast, queue.count > 0 {
                    try visit(.damaged(problem: "the source ends early", offset: offset))
                }
                return
            }
        }
    }
}

extension ByteQueue {
    enum Part {
        case document(BSONDocument, ArraySlice<UInt8>)
        /// Four bytes `ff`, which end a part of an archive.
        case terminator
        case incomplete
        case damaged(problem: String, offset: UInt64)
    }

    /// Takes the next document from the front.
    mutating func nextDocument() -> Part {
        guard let length = int32 else { return .incomplete }
        if length == -1 {
            remove(4)
            return .terminator
        }
        guard Int(length) >= BSONLimits.smallestDocument,
            Int(length) <= BSONLimits.largestDocument
        else {
            return .damaged(
                problem: "a document with a length of \(length) bytes",
                offset: offset
            )
        }
        guard count >= Int(length) else { return .incomplete }
        let bytes = prefix(Int(length))
        do throws(BSONError) {
            let document = try BSONDocument(decoding: bytes)
            remove(Int(length))
            return .document(document, bytes)
        } catch {
            return .damaged(
                problem: "\(error)",
                offset: offset &+ UInt64(error.offset)
            )
        }
    }
}
