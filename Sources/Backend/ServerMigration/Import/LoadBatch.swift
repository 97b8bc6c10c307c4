import Changesets
import Documents
import Migration
import SchemaFiles
import Schemas
import Scopes
import ServerStore
import Versions

/// Some objects on their way into the store: one transaction (moving an app, 6.4).
struct LoadBatch: Sendable {
    struct Item: Sendable {
        let object: ObjectReference
        let partition: Partition
        let document: Document
        /// The document in the declared schema's form.
        let json: [UInt8]
        /// Of the report, for the outcome.
        let owner: Int
    }

    /// The fate of an item.
    enum Outcome: Sendable {
        case created
        case updated
        case moved
        /// The store has it as the source has it.
        case unchanged
        /// A client changed it.
        case kept
    }

    var items: [Item] = []
    private(set) var sizeInBytes = 0

    static let mostItems = 8192
    static let mostBytes = 8 << 20

    mutating func append(_ item: Item) {
        items.append(item)
        sizeInBytes += item.json.count + 64
    }

    var isFull: Bool { items.count >= Self.mostItems || sizeInBytes >= Self.mostBytes }
}

/// Loads a batch, in the caller's transaction.
struct BatchLoader {
    let transaction: any StoreTransaction
    let target: ImportTarget
    let overwrites: Bool
    /// Milliseconds since 1970.
    let now: Int64
    private var files: [Partition: FileLoader] = [:]
    private var byID: [ServerFileID: Partition] = [:]

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
    }

    mutating func load(_ batch: LoadBatch) throws -> Result {
        var result = Result()
        result.outcomes.reserveCapacity(batch.items.count)
        for item in batch.items { result.outcomes.append(try load(item)) }
        for partition in Array(files.keys) { try files[partition]?.finish() }
        result.files = files.mapValues(\.id)
        return result
    }

    /// Erases objects that the source does not have any more.
    mutating func erase(_ objects: [(ObjectReference, ImportedRecord)]) throws -> Int {
        var count = 0
        for (object, record) in objects {
            guard let current = try transaction.document(object, in: record.file) else {
                try transaction.put(nil, of: object, in: target.app)
                continue
            }
            guard overwrites || DocumentDigest.of(current) == record.digest else { continue }
            try erase(object, in: record.file)
            try transaction.put(nil, of: object, in: target.app)
            count += 1
        }
        for partition in Array(files.keys) { try files[partition]?.finish() }
        return count
    }

    private mutating func file(of partition: Partition) throws -> ServerFileID {
        if let file = files[partition] { return file.id }
        let made = try transaction.makeFile(of: target.app, partition)
        let loader = try FileLoader(made, transaction, target, now: now)
        files[partition] = loader
        byID[loader.id] = partition
        return loader.id
    }

    private mutating func erase(_ object: ObjectReference, in id: ServerFileID) throws {
        if byID[id] == nil {
            guard let file = try transaction.file(id) else { return }
            _ = try self.file(of: file.partition)
        }
        guard let partition = byID[id] else { return }
        try files[partition]?.erase(object)
    }

    private mutating func load(_ item: LoadBatch.Item) throws -> LoadBatch.Outcome {
        let id = try file(of: item.partition)
        guard let form = files[item.partition] else { return .kept }
        let content = try form.content(of: item)
        let digest = DocumentDigest.of(content.json)
        let record = try transaction.importedRecord(of: item.object, in: target.app)
        let new = ImportedRecord(file: id, digest: digest)
        guard let record else {
            if try transaction.addDocument(content.json, of: item.object, in: id) {
                try files[item.partition]?.noteCreation(of: item.object, content.document)
                try transaction.put(new, of: item.object, in: target.app)
                return .created
            }
            return try meet(item, content, new)
        }
        guard record.file == id else { return try move(item, content, from: record, new) }
        if record.digest == digest, !overwrites { return .unchanged }
        guard let current = try transaction.document(item.object, in: id) else {
            return overwrites ? try create(item, content, new) : .kept
        }
        if current == content.json {
            if record.digest != digest { try transaction.put(new, of: item.object, in: target.app) }
            return .unchanged
        }
        guard overwrites || DocumentDigest.of(current) == record.digest else { return .kept }
        try files[item.partition]?.update(item.object, from: current, to: content)
        try transaction.put(new, of: item.object, in: target.app)
        return .updated
    }

    private mutating func create(
        _ item: LoadBatch.Item,
        _ content: FileLoader.Content,
        _ record: ImportedRecord
    ) throws -> LoadBatch.Outcome {
        try transaction.putDocument(content.json, of: item.object, in: record.file)
        try files[item.partition]?.noteCreation(of: item.object, content.document)
        try transaction.put(record, of: item.object, in: target.app)
        return .created
    }

    /// An object that clients made before it was imported.
    private mutating func meet(
        _ item: LoadBatch.Item,
        _ content: FileLoader.Content,
        _ record: ImportedRecord
    ) throws -> LoadBatch.Outcome {
        guard let current = try transaction.document(item.object, in: record.file) else {
            return .kept
        }
        if current == content.json {
            try transaction.put(record, of: item.object, in: target.app)
            return .unchanged
        }
        guard overwrites else { return .kept }
        try files[item.partition]?.update(item.object, from: current, to: content)
        try transaction.put(record, of: item.object, in: target.app)
        return .updated
    }

    /// The source has another partition for the object.
    private mutating func move(
        _ item: LoadBatch.Item,
        _ content: FileLoader.Content,
        from old: ImportedRecord,
        _ record: ImportedRecord
    ) throws -> LoadBatch.Outcome {
        if let current = try transaction.document(item.object, in: old.file) {
            guard overwrites || DocumentDigest.of(current) == old.digest else { return .kept }
            try erase(item.object, in: old.file)
        } else if !overwrites {
            return .kept
        }
        if try transaction.document(item.object, in: record.file) != nil {
            _ = try meet(item, content, record)
            return .moved
        }
        _ = try create(item, content, record)
        return .moved
    }
}
