import BSON

/// Splits a source into its documents, in bounded memory: bytes go in as they come (moving an app,
/// 1.2).
package struct SourceReader: Sendable {
    private enum State: Sendable {
        case bson(BSONSplitter)
        case text(JSONSplitter)
        case archive(ArchiveReader)
        case ended
    }

    private var state: State

    /// - Parameter collection: of the documents, unless they are in an archive.
    package init(_ form: SourceForm, of collection: SourceCollection) {
        switch form {
        case .bson: self.state = .bson(BSONSplitter(collection))
        case .lines: self.state = .text(JSONSplitter(collection, isArray: false))
        case .array: self.state = .text(JSONSplitter(collection, isArray: true))
        case .archive: self.state = .archive(ArchiveReader())
        }
    }

    /// Whether the rest of the source is not read.
    package var hasEnded: Bool { if case .ended = state { true } else { false } }

    /// Takes the next bytes.
    package mutating func read(
        _ bytes: [UInt8],
        _ visit: (SourceEvent) throws -> Void
    ) rethrows {
        try advance(bytes, isLast: false, visit)
    }

    /// Tells that there are no more bytes.
    package mutating func finish(_ visit: (SourceEvent) throws -> Void) rethrows {
        try advance([], isLast: true, visit)
    }

    private mutating func advance(
        _ bytes: [UInt8],
        isLast: Bool,
        _ visit: (SourceEvent) throws -> Void
    ) rethrows {
        // The state leaves its place meanwhile, so that its buffers are changed and not copied.
        var current = State.ended
        swap(&current, &state)
        var ends = isLast
        func pass(_ event: SourceEvent) throws {
            if case .damaged = event { ends = true }
            try visit(event)
        }
        switch current {
        case .bson(var splitter):
            try splitter.read(bytes, isLast: isLast, pass)
            current = .bson(splitter)
        case .text(var splitter):
            try splitter.read(bytes, isLast: isLast, pass)
            current = .text(splitter)
        case .archive(var reader):
            try reader.read(bytes, isLast: isLast, pass)
            current = .archive(reader)
        case .ended: return
        }
        if !ends { state = current }
    }
}
