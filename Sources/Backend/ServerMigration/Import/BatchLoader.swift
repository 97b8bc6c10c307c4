import Changesets
import Scopes
import ServerStore

/// Loads a batch, in the caller's transaction (moving an app, 6.4).
struct BatchLoader {
    private let transaction: any StoreTransaction
    private let target: ImportTarget
    private let overwrites: Bool
    /// Milliseconds since 1970.
    private let now: Int64
    private var files: [Partition: FileLoader] = [:]
    private var byID: [ServerFileID: FileLoader] = [:]
    /// Most items are of the partition of the one before.
    private var latest: (partition: Partition, file: FileLoader)?
    private var changes: [ImportedRecordChange] = []
    /// The changes by object, if a later item may be of the same one.
    private var changed: [ObjectReference: ImportedRecord?] = [:]
    private var mayRepeat = false

    init(
        _ transaction: any StoreTransaction,
        _ target: ImportTarget,
        overwrites: Bool,
        now: Int64
    ) {
        self.transaction = transaction
        self.target = target
        self.overwrites = overwrites
        self.now = now
    }

    struct Result: Sendable {
        var outcomes: [LoadBatch.Outcome] = []
        var files: [Partition: ServerFileID] = [:]
        /// The files that were changed, or were looked at.
        var changed: Set<ServerFileID> = []
    }

    mutating func load(_ batch: LoadBatch) throws -> Result {
        var result = Result()
        result.outcomes.reserveCapacity(batch.items.count)
        mayRepeat = batch.mayRepeat
        let records = try transaction.importedRecords(
            of: batch.items.map(\.object),
            in: target.app
        )
        try expectDocuments(of: batch)
        for (item, record) in zip(batch.items, records) {
            let current = mayRepeat ? changed[item.object] ?? record : record
            result.outcomes.append(try load(item, current))
        }
        try finish()
        result.files = files.mapValues(\.id)
        result.changed = Set(byID.keys)
        return result
    }

    /// A database with equal values in another spelling is not in this process.
    private mutating func expectDocuments(of batch: LoadBatch) throws {
        guard !transaction.keepsSpelling else { return }
        for (partition, items) in Dictionary(grouping: batch.items, by: \.partition) {
            let file = try file(of: partition)
            try transaction.expectDocuments(items.map(\.object), in: file.id)
        }
    }

    /// Erases objects that the source does not have any more.
    mutating func erase(
        _ objects: [(ObjectReference, ImportedRecord)]
    ) throws -> (count: Int, changed: Set<ServerFileID>) {
        var count = 0
        for (object, record) in objects {
            guard let file = try file(record.file), let current = try file.document(object) else {
                note(nil, of: object)
                continue
            }
            guard overwrites || DocumentDigest.of(current) == record.digest else { continue }
            try file.erase(object)
            note(nil, of: object)
            count += 1
        }
        try finish()
        return (count, Set(byID.keys))
    }

    private mutating func finish() throws {
        for file in files.values { try file.finish() }
        let all = mayRepeat ? changed.map { ($0.key, $0.value) } : changes
        try transaction.put(all, in: target.app)
    }

    private mutating func note(_ record: ImportedRecord?, of object: ObjectReference) {
        if mayRepeat {
            changed.updateValue(record, forKey: object)
        } else {
            changes.append((object, record))
        }
    }

    // MARK: Files

    private mutating func file(of partition: Partition) throws -> FileLoader {
        if let latest, latest.partition == partition { return latest.file }
        let file = try files[partition] ?? make(partition)
        latest = (partition, file)
        return file
    }

    private mutating func make(_ partition: Partition) throws -> FileLoader {
        let made = try transaction.makeFile(of: target.app, partition)
        let loader = try FileLoader(made, transaction, target, now: now)
        files[partition] = loader
        byID[loader.id] = loader
        return loader
    }

    /// Nil if the file was removed since.
    private mutating func file(_ id: ServerFileID) throws -> FileLoader? {
        if let known = byID[id] { return known }
        guard let file = try transaction.file(id) else { return nil }
        return try self.file(of: file.partition)
    }

    // MARK: Items

    private mutating func load(
        _ item: LoadBatch.Item,
        _ record: ImportedRecord?
    ) throws -> LoadBatch.Outcome {
        let file = try file(of: item.partition)
        let content = try file.content(of: item)
        let digest = DocumentDigest.of(content.json)
        let new = ImportedRecord(file: file.id, digest: digest)
        guard let record else {
            if try transaction.addDocument(content.json, of: item.object, in: file.id) {
                try file.noteCreation(of: item.object, content.document)
                note(new, of: item.object)
                return .created
            }
            return try meet(item, content, new, in: file)
        }
        guard record.file == file.id else {
            return try move(item, content, from: record, new, to: file)
        }
        if record.digest == digest, !overwrites { return .unchanged }
        guard let current = try file.document(item.object) else {
            return overwrites ? try create(item, content, new, in: file) : .kept
        }
        if current == content.json {
            if record.digest != digest { note(new, of: item.object) }
            return .unchanged
        }
        guard overwrites || DocumentDigest.of(current) == record.digest else { return .kept }
        try file.update(item.object, from: current, to: content)
        note(new, of: item.object)
        return .updated
    }

    private mutating func create(
        _ item: LoadBatch.Item,
        _ content: FileLoader.Content,
        _ record: ImportedRecord,
        in file: FileLoader
    ) throws -> LoadBatch.Outcome {
        try transaction.putDocument(content.json, of: item.object, in: file.id)
        try file.noteCreation(of: item.object, content.document)
        note(record, of: item.object)
        return .created
    }

    /// An object that clients made before it was imported.
    private mutating func meet(
        _ item: LoadBatch.Item,
        _ content: FileLoader.Content,
        _ record: ImportedRecord,
        in file: FileLoader
    ) throws -> LoadBatch.Outcome {
        guard let current = try file.document(item.object) else { return .kept }
        if current == content.json {
            note(record, of: item.object)
            return .unchanged
        }
        guard overwrites else { return .kept }
        try file.update(item.object, from: current, to: content)
        note(record, of: item.object)
        return .updated
    }

    /// The source has another partition for the object.
    private mutating func move(
        _ item: LoadBatch.Item,
        _ content: FileLoader.Content,
        from old: ImportedRecord,
        _ record: ImportedRecord,
        to file: FileLoader
    ) throws -> LoadBatch.Outcome {
        if let place = try self.file(old.file), let current = try place.document(item.object) {
            guard overwrites || DocumentDigest.of(current) == old.digest else { return .kept }
            try place.erase(item.object)
        } else if !overwrites {
            return .kept
        }
        if try file.document(item.object) != nil {
            _ = try meet(item, content, record, in: file)
            return .moved
        }
        _ = try create(item, content, record, in: file)
        return .moved
    }
}
