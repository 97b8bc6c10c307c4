import BSON
import Changesets
import Documents
import Migration
import SchemaFiles
import Schemas
import Scopes
package import ServerStore

/// Loads the documents of sources as objects of an app (moving an app, 6).
package struct DataImport {
    package struct Options: Sendable {
        package var isDryRun = false
        /// Writes over what clients have changed.
        package var overwrites = false
        /// Removes what the source does not have any more.
        package var deletesMissing = false
        /// The documents of one transaction.
        package var documentsAtOnce = LoadBatch.mostItems

        package init() {}
    }

    /// A document that cannot be stored, as a line of `unsynced.json`.
    package typealias UnsyncedSink = ([UInt8]) throws -> Void
    /// Bytes read of all, and documents.
    package typealias Progress = (_ bytes: UInt64, _ documents: Int) -> Void

    private let store: any Store
    private let target: ImportTarget
    private let options: Options
    private let now: @Sendable () -> Int64
    private let unsynced: UnsyncedSink
    private let progress: Progress
    private let written: Written

    /// Called after each transaction, with the files that it may have changed.
    package typealias Written = @Sendable (Set<ServerFileID>) async throws -> Void

    package init(
        into store: any Store,
        _ target: ImportTarget,
        _ options: Options,
        now: @escaping @Sendable () -> Int64,
        unsynced: @escaping UnsyncedSink,
        progress: @escaping Progress = { _, _ in },
        written: @escaping Written = { _ in }
    ) {
        self.written = written
        self.store = store
        self.target = target
        self.options = options
        self.now = now
        self.unsynced = unsynced
        self.progress = progress
    }

    package func run(_ files: [SourceFile]) async throws -> DataReport {
        let knows = files.contains { file in
            file.collection.name.isEmpty || target.conversion(of: file.collection) != nil
                || file.path.hasSuffix(".archive") || file.path.hasSuffix(".archive.gz")
        }
        var run = try DataImportRun(
            store,
            target,
            options,
            now: now,
            unsynced: unsynced,
            written: written
        )
        // While the store takes a batch, the next one is read.
        return try await withThrowingTaskGroup(of: DataImportRun.Loaded.self) { group in
            var bytes: UInt64 = 0
            for file in files {
                let cursor = try SourceCursor(file)
                while let events = try cursor.next() {
                    for event in events {
                        try run.take(event, from: file.path)
                        if run.isBatchFull { try await run.load(&group) }
                    }
                    progress(bytes + cursor.offset, run.report.read)
                }
                bytes += cursor.offset
            }
            guard knows || run.hasClass else {
                throw MigrationFailure(
                    "import.nothing_to_do",
                    "no collection of the sources has a class",
                    remedy: "name the sources of the app of the map"
                )
            }
            try await run.load(&group)
            try await run.settle(&group)
            return try await run.finish()
        }
    }
}

/// The state of one run.
struct DataImportRun {
    private let store: any Store
    private let target: ImportTarget
    private let options: DataImport.Options
    private let now: @Sendable () -> Int64
    private let unsynced: DataImport.UnsyncedSink
    private let written: DataImport.Written
    private(set) var report = DataReport()
    private var batch = LoadBatch()
    /// Links of the batch's items, by position.
    private var batchLinks: [(item: Int, target: ObjectReference)] = []
    private let seen: SeenKeys
    private let spool: LinkSpool
    private var owners: [Text] = []
    private var ownerNumbers: [Text: Int] = [:]
    private var conversions: [SourceCollection: ClassConversion?] = [:]
    private(set) var hasClass = false

    /// The code of a source that cannot be read to its end.
    private static let damaged = "import.damaged"
    private static let mostDroppedPaths = 1000
    private static let linksAtOnce = 4096

    init(
        _ store: any Store,
        _ target: ImportTarget,
        _ options: DataImport.Options,
        now: @escaping @Sendable () -> Int64,
        unsynced: @escaping DataImport.UnsyncedSink,
        written: @escaping DataImport.Written
    ) throws(MigrationFailure) {
        self.written = written
        self.store = store
        self.target = target
        self.options = options
        self.now = now
        self.unsynced = unsynced
        self.seen = try SeenKeys()
        self.spool = try LinkSpool()
    }

    // MARK: Documents

    mutating func take(_ event: SourceEvent, from path: String) throws {
        switch event {
        case .document(let collection, let document, let offset):
            try take(document, of: collection, at: offset, from: path)
        case .unreadable(let collection, let problem, let offset):
            guard !collection.isInternal, let conversion = conversion(of: collection) else {
                return
            }
            let name = conversion.owner.name.description
            report.withClass(name) { report in
                report.collection = collection.name
                report.read += 1
                report.unsynced += 1
            }
            try unsynced(
                UnsyncedLine(
                    className: name,
                    collection: collection.name,
                    id: nil,
                    reason: Unsyncable(.unreadable, problem),
                    file: path,
                    offset: offset
                ).bytes
            )
        case .damaged(let problem, let offset):
            report.add(
                damage: "\(path): error: \(Self.damaged): at byte \(offset): \(problem); what came "
                    + "before is loaded, dump the rest again"
            )
        }
    }

    private mutating func conversion(of collection: SourceCollection) -> ClassConversion? {
        if let known = conversions[collection] { return known }
        let conversion = target.conversion(of: collection)
        conversions[collection] = conversion
        if conversion != nil { hasClass = true }
        return conversion
    }

    private mutating func take(
        _ document: BSONDocument,
        of collection: SourceCollection,
        at offset: UInt64,
        from path: String
    ) throws {
        guard !collection.isInternal else { return }
        let name = collection.name
        guard let conversion = conversion(of: collection) else {
            report.withClass("(\(name))") { report in
                report.collection = name
                report.read += 1
                report.ignored += 1
            }
            return
        }
        let owner = conversion.owner
        let className = owner.name.description
        guard !owner.isAsymmetric else {
            report.withClass(className) { report in
                report.collection = name
                report.read += 1
                report.ignored += 1
            }
            return
        }
        let object: ImportedObject
        do throws(Unsyncable) {
            object = try conversion.object(of: document)
        } catch {
            report.withClass(className) { report in
                report.collection = name
                report.read += 1
                report.unsynced += 1
            }
            return try unsynced(
                UnsyncedLine(
                    className: className,
                    collection: name,
                    id: document["_id"],
                    reason: error,
                    file: path,
                    offset: offset
                ).bytes
            )
        }
        let key = DocumentDigest.of(owner.name.bytes + StoredKey.encode(object.object.key))
        let isNew = try seen.insert(key)
        note(object, of: className, in: name, isNew: isNew)
        guard !options.isDryRun else { return }
        for link in object.links { batchLinks.append((batch.items.count, link)) }
        batch.append(
            LoadBatch.Item(
                object: object.object,
                partition: target.partition(of: object),
                document: object.document,
                json: target.form.encode(object.document, key: object.object.key, of: owner),
                owner: number(of: owner.name)
            ),
            isRepeated: !isNew
        )
    }

    private mutating func number(of owner: Text) -> Int {
        if let number = ownerNumbers[owner] { return number }
        ownerNumbers[owner] = owners.count
        owners.append(owner)
        return owners.count - 1
    }

    private mutating func note(
        _ object: ImportedObject,
        of className: String,
        in collection: String,
        isNew: Bool
    ) {
        report.withClass(className) { report in
            report.collection = collection
            report.read += 1
            if isNew {
                report.stored += 1
                report.partitions[ImportTarget.text(of: object.partition), default: 0] += 1
            } else {
                report.repeated += 1
            }
            report.counts += object.counts
            for path in object.droppedPaths {
                guard
                    report.droppedPaths[path] != nil
                        || report.droppedPaths.count < Self.mostDroppedPaths
                else { continue }
                report.droppedPaths[path, default: 0] += 1
            }
        }
    }

    // MARK: Batches

    /// A batch that the store has taken.
    struct Loaded: Sendable {
        let batch: LoadBatch
        let links: [(item: Int, target: ObjectReference)]
        let result: BatchLoader.Result
    }

    var isBatchFull: Bool { batch.isFull(at: options.documentsAtOnce) }

    /// Gives the batch to the store, once that has taken the one before.
    mutating func load(_ group: inout ThrowingTaskGroup<Loaded, any Error>) async throws {
        try await settle(&group)
        guard !batch.items.isEmpty else { return }
        let (batch, links, moment) = (batch, batchLinks, now())
        let (store, target, options, written) = (store, target, options, written)
        group.addTask {
            let result = try await store.write(
                .app(target.app),
                for: .upkeep,
                ofSize: batch.sizeInBytes
            ) { transaction in
                var loader = BatchLoader(
                    transaction,
                    target,
                    overwrites: options.overwrites,
                    now: moment
                )
                return try loader.load(batch)
            }
            try await written(result.changed)
            return Loaded(batch: batch, links: links, result: result)
        }
        self.batch = LoadBatch()
        batchLinks = []
    }

    /// Waits for the batch that the store takes.
    mutating func settle(_ group: inout ThrowingTaskGroup<Loaded, any Error>) async throws {
        guard let loaded = try await group.next() else { return }
        let items = loaded.batch.items
        for (item, outcome) in zip(items, loaded.result.outcomes) {
            report.withClass(owners[item.owner].description) { $0.count(outcome) }
        }
        for (item, link) in loaded.links {
            guard let file = loaded.result.files[items[item].partition] else { continue }
            try spool.append(LinkSpool.Link(file: file, target: link, owner: items[item].owner))
        }
    }

    /// The rest, once all batches are in the store.
    mutating func finish() async throws -> DataReport {
        guard !options.isDryRun else { return report }
        if options.deletesMissing, !report.isDamaged { try await deleteMissing() }
        try await countDanglingLinks()
        return report
    }

    private mutating func countDanglingLinks() async throws {
        guard spool.count > 0 else { return }
        var dangling = [Int](repeating: 0, count: owners.count)
        let store = store
        try await spool.forEachGroup(of: Self.linksAtOnce) { links in
            let missing = try await store.read { snapshot in
                for (file, links) in Dictionary(grouping: links, by: \.file) {
                    try snapshot.expectDocuments(Array(Set(links.map(\.target))), in: file)
                }
                var known: [LinkSpool.Link: Bool] = [:]
                var missing: [Int] = []
                for link in links {
                    let place = LinkSpool.Link(file: link.file, target: link.target, owner: 0)
                    let isThere =
                        try known[place]
                        ?? (snapshot.document(link.target, in: link.file) != nil)
                    known[place] = isThere
                    if !isThere { missing.append(link.owner) }
                }
                return missing
            }
            for owner in missing { dangling[owner] += 1 }
        }
        for (owner, count) in dangling.enumerated() where count > 0 {
            report.withClass(owners[owner].description) { $0.dangling += count }
        }
    }

    /// Removes imported objects that no source had.
    private mutating func deleteMissing() async throws {
        let classes = Set(conversions.values.compactMap { $0?.owner.name })
        for name in classes.sorted() {
            var last: ObjectKey?
            while true {
                let app = target.app
                let page = try await store.read { [last] snapshot in
                    var page: [(ObjectReference, ImportedRecord)] = []
                    try snapshot.forEachImportedRecord(of: name, in: app, after: last) {
                        key,
                        record in
                        page.append((ObjectReference(className: name, key: key), record))
                        return page.count < LoadBatch.mostItems ? .next : .stop
                    }
                    return page
                }
                guard let end = page.last else { break }
                last = end.0.key
                let gone = page.filter { object, _ in
                    let key = DocumentDigest.of(name.bytes + StoredKey.encode(object.key))
                    return !seen.contains(key)
                }
                guard !gone.isEmpty else { continue }
                let (target, options, moment) = (target, options, now())
                let (count, changed) = try await store.write(.app(app), for: .upkeep) {
                    transaction in
                    var loader = BatchLoader(
                        transaction,
                        target,
                        overwrites: options.overwrites,
                        now: moment
                    )
                    return try loader.erase(gone)
                }
                try await written(changed)
                report.withClass(name.description) { $0.removed += count }
            }
        }
    }
}

extension DataReport.ClassReport {
    fileprivate mutating func count(_ outcome: LoadBatch.Outcome) {
        switch outcome {
        case .created: created += 1
        case .updated: updated += 1
        case .moved: moved += 1
        case .kept: kept += 1
        case .unchanged: break
        }
    }
}

/// A line of `unsynced.json` (moving an app, 6.2).
struct UnsyncedLine {
    let className: String
    let collection: String
    let id: BSONValue?
    let reason: Unsyncable
    let file: String
    let offset: UInt64

    var bytes: [UInt8] {
        var text = ExtendedJSONText(.canonical)
        text.write(
            BSONDocument([
                field("class", .string(Text(className))),
                field("collection", .string(Text(collection))), field("_id", id ?? .null),
                field("reason", .string(Text(reason.reason.rawValue))),
                field("property", .string(Text(reason.property))),
                field("file", .string(Text(file))),
            ])
        )
        return text.bytes.dropLast() + Array(",\"offset\":\(offset)}\n".utf8)
    }

    private func field(_ name: Text, _ value: BSONValue) -> BSONField {
        BSONField(name: name, value: value)
    }
}
