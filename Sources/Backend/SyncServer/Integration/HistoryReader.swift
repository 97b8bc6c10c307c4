import Changesets
import Merge
import ServerStore
import Versions

/// Reads the history that an upload may have to be merged with. A short one is read whole, of a
/// long one the entries that share a place with the upload by its index.
struct HistoryReader {
    let client: FileIdent
    let file: ServerFile
    let uploads: UploadedPlaces
    let limits: MergeLimits
    /// Nil: reads all of the history.
    let indexes: HistoryIndexes?
    let store: any FileReading

    /// Entries of the history after a version.
    func forEachEntry(
        after version: ServerVersion,
        _ visit: @escaping (HistoryEntry) throws -> Void
    ) throws {
        let subject = HistoryIndex.Subject(file: file.id, generation: file.generation)
        var start = version
        if let index = try index(of: subject, after: version) {
            let visitor = EntryVisitor(visit)
            try store.forEachEntry(
                of: file.id,
                at: candidates(in: index, after: version),
                readBy: client,
                visitor.take
            )
            try visitor.finish()
            start = max(version, index.end)
        }
        let visitor = EntryVisitor(visit)
        try store.forEachEntry(of: file.id, after: start, readBy: client, visitor.take)
        try visitor.finish()
    }

    /// Entries of a snapshot after a version.
    func forEachEntry(
        of snapshot: ServerVersion,
        after version: ServerVersion,
        _ visit: @escaping (HistoryEntry) throws -> Void
    ) throws {
        let subject = HistoryIndex.Subject(
            file: file.id,
            generation: file.generation,
            snapshot: snapshot
        )
        guard let index = try index(of: subject, after: version) else {
            let visitor = EntryVisitor(visit)
            try store.forEachSnapshotEntry(
                of: file.id,
                in: snapshot,
                after: version,
                visitor.take
            )
            return try visitor.finish()
        }
        let visitor = EntryVisitor(visit)
        try store.forEachSnapshotEntry(
            of: file.id,
            in: snapshot,
            at: candidates(in: index, after: version),
            visitor.take
        )
        try visitor.finish()
    }

    /// Nil if none is needed. Entries after the end of the index are read; if they are long, too,
    /// the index must be extended first.
    private func index(
        of subject: HistoryIndex.Subject,
        after version: ServerVersion
    ) throws -> HistoryIndex? {
        guard let indexes else { return nil }
        var subject = subject
        // An index of everything that exists already serves as well.
        subject.isSchemaOnly = uploads.isSchemaOnly && indexes[subject] == nil
        let limit = UInt64(limits.unindexedSizeInBytes)
        guard subject.snapshot == .zero else {
            guard let size = file.snapshot?.sizeInBytes, size <= limit else {
                // The size of an older snapshot is not on record.
                guard let index = indexes[subject], try index.isCurrent(in: file, store) else {
                    throw HistoryIndexes.Needed(subject: subject)
                }
                return index
            }
            return nil
        }
        guard try isLong(after: version) else { return nil }
        guard let index = indexes[subject], try index.isCurrent(in: file, store),
            try !isLong(after: max(version, index.end))
        else { throw HistoryIndexes.Needed(subject: subject) }
        return index
    }

    /// Whether the entries by others after a version exceed the limit. The client's own do not
    /// count: a client that uploads a lot, alone, needs no index.
    private func isLong(after version: ServerVersion) throws(StoreError) -> Bool {
        let limit = UInt64(limits.unindexedSizeInBytes)
        guard try store.historySize(of: file, after: version) > limit else { return false }
        // Each own entry costs a step of the writer's time.
        let count = file.currentVersion.rawValue - min(version, file.currentVersion).rawValue
        guard count <= Self.countedEntries else { return true }
        return try store.sizeOfOthers(of: file.id, after: version, for: client, limit: limit)
            > limit
    }

    private static let countedEntries = 8192

    private func candidates(
        in index: HistoryIndex,
        after version: ServerVersion
    ) -> [ServerVersion] {
        index.versions(after: version, touching: uploads.touched.numbers)
    }
}

/// A visitor that throws any error, for a store, which throws its own; the first one ends the visit.
private final class EntryVisitor {
    private let visit: (HistoryEntry) throws -> Void
    private var failure: (any Error)?

    init(_ visit: @escaping (HistoryEntry) throws -> Void) {
        self.visit = visit
    }

    func take(_ entry: HistoryEntry) -> Visit {
        do {
            try visit(entry)
            return .next
        } catch {
            failure = error
            return .stop
        }
    }

    func finish() throws {
        if let failure { throw failure }
    }
}
