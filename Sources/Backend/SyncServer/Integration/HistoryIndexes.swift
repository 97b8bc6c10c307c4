import Changesets
import ServerStore
import Synchronization
import Versions

/// The indexes of recently merged histories, within a limit of memory.
final class HistoryIndexes: Sendable {
    /// An upload needs the index of a long history. Nothing was changed; the caller can extend the
    /// index and retry.
    struct Needed: Error {
        let subject: HistoryIndex.Subject
    }

    private let store: any Store
    private let limit: Int
    /// The most recently used one at the end.
    private let indexes = Mutex<[HistoryIndex]>([])
    /// Bytes read at once; other work on the store runs in between.
    private static let pieceSizeInBytes = 256 << 10

    init(store: any Store, limitInBytes limit: Int = 64 << 20) {
        self.store = store
        self.limit = limit
    }

    subscript(subject: HistoryIndex.Subject) -> HistoryIndex? {
        indexes.withLock { indexes in
            guard let position = indexes.firstIndex(where: { $0.subject == subject }) else {
                return nil
            }
            let index = indexes.remove(at: position)
            indexes.append(index)
            return index
        }
    }

    /// Reads the entries after the index, without blocking the writer.
    func extend(_ subject: HistoryIndex.Subject) async throws {
        let index = self[subject] ?? HistoryIndex(of: subject)
        while true {
            let piece = try await store.read { [end = index.end] in
                try Self.piece(of: subject, after: end, from: $0)
            }
            try Self.append(piece, to: index)
            if piece.sizeInBytes <= Self.pieceSizeInBytes { break }
        }
        indexes.withLock { indexes in
            indexes.removeAll { $0.subject == subject }
            indexes.append(index)
            var size = indexes.reduce(0) { $0 + $1.sizeInBytes }
            // One is always kept, of any size.
            while size > limit, indexes.count > 1 { size -= indexes.removeFirst().sizeInBytes }
        }
    }

    /// Consecutive entries, as they are stored. The last piece of a history is not above the limit.
    private struct Piece: Sendable {
        var changesets: [(version: ServerVersion, bytes: [UInt8])] = []
        var sizeInBytes = 0
    }

    private static func piece(
        of subject: HistoryIndex.Subject,
        after version: ServerVersion,
        from store: any StoreReading
    ) throws(StoreError) -> Piece {
        var piece = Piece()
        guard try store.file(subject.file)?.generation == subject.generation else { return piece }
        try store.forEachChangeset(
            of: subject.file,
            in: subject.snapshot,
            after: version
        ) { version, bytes in
            piece.changesets.append((version, bytes))
            piece.sizeInBytes += bytes.count
            return piece.sizeInBytes > pieceSizeInBytes ? .stop : .next
        }
        return piece
    }

    private static func append(_ piece: Piece, to index: HistoryIndex) throws(StoreError) {
        let subject = index.subject
        for (version, bytes) in piece.changesets {
            if subject.isSchemaOnly, !Changeset.mayChangeSchema(bytes) {
                index.skip(version)
            } else {
                guard let changeset = try? Changeset(decoding: bytes) else {
                    throw StoreError.damagedEntry(version, of: subject.file)
                }
                index.append(version, changeset)
            }
        }
    }
}

extension StoreError {
    static func damagedEntry(_ version: ServerVersion, of file: ServerFileID) -> StoreError {
        StoreError(
            .unusable,
            "history entry \(version.rawValue) of server file \(file.rawValue) is damaged"
        )
    }
}
