import BSON

/// Lines of Extended JSON, or the elements of one array.
struct JSONSplitter: Sendable {
    private let collection: SourceCollection
    private var queue = ByteQueue()
    /// Bytes at the front of the queue that were looked at already.
    private var scanned = 0
    private var phase: Phase

    private enum Phase: Sendable {
        case lines
        case beforeArray
        /// In an array: brackets around the current place, and whether it is inside a string.
        case array(depth: Int, isInString: Bool, isEscaped: Bool, hasElement: Bool)
        case afterArray
    }

    /// The most bytes of one document as text: canonical text has a multiple of those in BSON.
    static let sizeInBytes = 64 << 20

    init(_ collection: SourceCollection, isArray: Bool) {
        self.collection = collection
        self.phase = isArray ? .beforeArray : .lines
    }

    mutating func read(
        _ bytes: [UInt8],
        isLast: Bool,
        _ visit: (SourceEvent) throws -> Void
    ) rethrows {
        queue.append(bytes)
        while try step(isLast: isLast, visit) {}
        if queue.count > Self.sizeInBytes {
            try visit(
                .damaged(
                    problem: "a document with more than \(Self.sizeInBytes >> 20) MiB of text",
                    offset: queue.offset
                )
            )
        }
    }

    /// False if more bytes are needed.
    private mutating func step(
        isLast: Bool,
        _ visit: (SourceEvent) throws -> Void
    ) rethrows -> Bool {
        switch phase {
        case .lines: return try nextLine(isLast: isLast, visit)
        case .beforeArray:
            guard let start = queue.rest.firstIndex(of: UInt8(ascii: "[")) else { return false }
            queue.remove(start - queue.rest.startIndex + 1)
            phase = .array(depth: 0, isInString: false, isEscaped: false, hasElement: false)
            return true
        case .array(let depth, let isInString, let isEscaped, let hasElement):
            return try nextElement(depth, isInString, isEscaped, hasElement, isLast, visit)
        case .afterArray:
            let hasMore = queue.rest.contains { ![0x20, 0x09, 0x0a, 0x0d].contains($0) }
            if hasMore {
                try visit(
                    .damaged(problem: "there is text after the array", offset: queue.offset)
                )
            }
            queue.remove(queue.count)
            return false
        }
    }

    private mutating func nextLine(
        isLast: Bool,
        _ visit: (SourceEvent) throws -> Void
    ) rethrows -> Bool {
        let rest = queue.rest
        let from = rest.startIndex + scanned
        if let end = rest[from...].firstIndex(of: UInt8(ascii: "\n")) {
            let length = end - rest.startIndex
            try parse(length: length, visit)
            queue.remove(length + 1)
            scanned = 0
            return true
        }
        scanned = queue.count
        guard isLast, queue.count > 0 else { return false }
        try parse(length: queue.count, visit)
        queue.remove(queue.count)
        return false
    }

    private mutating func nextElement(
        _ oldDepth: Int,
        _ wasInString: Bool,
        _ wasEscaped: Bool,
        _ hadElement: Bool,
        _ isLast: Bool,
        _ visit: (SourceEvent) throws -> Void
    ) rethrows -> Bool {
        var (depth, isInString, isEscaped) = (oldDepth, wasInString, wasEscaped)
        var hasElement = hadElement
        let rest = queue.rest
        var position = rest.startIndex + scanned
        while position < rest.endIndex {
            let byte = rest[position]
            if isInString {
                if isEscaped {
                    isEscaped = false
                } else if byte == UInt8(ascii: "\\") {
                    isEscaped = true
                } else if byte == UInt8(ascii: "\"") {
                    isInString = false
                }
            } else {
                switch byte {
                case UInt8(ascii: "\""):
                    isInString = true
                    hasElement = true
                case UInt8(ascii: "{"), UInt8(ascii: "["):
                    depth += 1
                    hasElement = true
                case UInt8(ascii: "}") where depth > 0, UInt8(ascii: "]") where depth > 0:
                    depth -= 1
                case UInt8(ascii: ",") where depth == 0, UInt8(ascii: "]"):
                    let length = position - rest.startIndex
                    if hasElement { try parse(length: length, visit) }
                    queue.remove(length + 1)
                    scanned = 0
                    phase =
                        byte == UInt8(ascii: "]")
                        ? .afterArray
                        : .array(
                            depth: 0,
                            isInString: false,
                            isEscaped: false,
                            hasElement: false
                        )
                    return true
                case 0x20, 0x09, 0x0a, 0x0d: break
                default: hasElement = true
                }
            }
            position += 1
        }
        scanned = queue.count
        phase = .array(
            depth: depth,
            isInString: isInString,
            isEscaped: isEscaped,
            hasElement: hasElement
        )
        if isLast {
            try visit(.damaged(problem: "the array does not end", offset: queue.offset))
        }
        return false
    }

    /// Reads the bytes at the front as one document.
    private func parse(length: Int, _ visit: (SourceEvent) throws -> Void) rethrows {
        let bytes = queue.prefix(length)
        guard bytes.contains(where: { ![0x20, 0x09, 0x0d].contains($0) }) else { return }
        let event: SourceEvent
        do {
            let tree = try JSONTree(parsing: Array(bytes))
            event = .document(
                collection,
                try BSONDocument(extendedJSON: tree),
                offset: queue.offset
            )
        } catch {
            event = .unreadable(collection, problem: "\(error)", offset: queue.offset)
        }
        try visit(event)
    }
}
