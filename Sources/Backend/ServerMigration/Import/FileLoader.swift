import Changesets
import Documents
import SchemaFiles
import Schemas
import ServerStore
import Versions

/// Changes one server file for an import: documents, and their history for clients. Lives as long as a
/// transaction.
final class FileLoader {
    /// A document in the form of the file's schema.
    struct Content {
        let document: Document
        let json: [UInt8]
    }

    let id: ServerFileID
    private let transaction: any StoreTransaction
    private let schema: RealmSchema
    private let declared: RealmSchema
    private let form: JSONForm
    private let declaredForm: JSONForm
    /// Whether documents of the declared schema are documents of the file's.
    private let hasDeclaredForm: Bool
    private let diff: ValueDiff
    private var history: HistoryAppender
    private var writer = ChangesetWriter()
    /// Of flexible sync with clients, whose views follow these images.
    private var touches: TouchRecorder?

    /// A changeset is complete once it is larger than this.
    private static let changesetSizeInBytes = 1 << 20

    /// Adds what the file lacks of the declared schema. Throws if the two contradict each other.
    init(
        _ file: ServerFile,
        _ transaction: any StoreTransaction,
        _ target: ImportTarget,
        now: Int64
    ) throws {
        self.id = file.id
        self.transaction = transaction
        self.declared = target.declaration.schema
        self.declaredForm = target.form
        self.history = HistoryAppender(to: file, in: transaction, now: now)
        var schema = try transaction.schema(of: file.id)
        if let conflict = schema.conflicts(withDeclared: declared).first {
            throw MigrationFailure(
                "schema.conflict",
                "\(conflict), in the realm of partition \(file.partition)",
                remedy: "correct the schema file, or terminate sync of the app and begin again"
            )
        }
        if declared.hasAdditions(to: schema) {
            declared.writeAdditions(to: schema, into: &writer)
            try schema.apply(schemaOf: Changeset(decoding: writer.bytes))
            try transaction.putSchema(schema, of: file.id)
        }
        self.touches = try TouchRecorder(file, transaction, schema, target)
        self.schema = schema
        self.form = JSONForm(schema: schema)
        self.diff = ValueDiff(schema: schema)
        self.hasDeclaredForm = declared.classes.allSatisfy { owner in
            schema[owner.name].map { Self.order($0) == Self.order(owner) } ?? false
        }
    }

    private static func order(_ owner: ClassSchema) -> [Text] { owner.properties.map(\.name) }

    func content(of item: LoadBatch.Item) throws -> Content {
        guard !hasDeclaredForm, let owner = schema[item.object.className] else {
            return Content(document: item.document, json: item.json)
        }
        // By name: the file has other properties, or the same in another order.
        let document = try form.decodeDocument(item.json, of: owner)
        return Content(
            document: document,
            json: form.encode(document, key: item.object.key, of: owner)
        )
    }

    /// The document that the file has now, as this program writes it; nil if there is none.
    func document(_ object: ObjectReference) throws -> [UInt8]? {
        guard let json = try transaction.document(object, in: id) else { return nil }
        guard !transaction.keepsSpelling else { return json }
        let owner = try owner(of: object)
        return form.encode(
            try form.decodeDocument(json, of: owner),
            key: object.key,
            of: owner
        )
    }

    private func owner(of object: ObjectReference) throws -> ClassSchema {
        guard let owner = schema[object.className] else {
            throw StoreError(.unusable, "server file \(id.rawValue) lacks \(object.className)")
        }
        return owner
    }

    /// The caller has added the document.
    func noteCreation(of object: ObjectReference, _ document: Document) throws {
        let owner = try owner(of: object)
        try separate(object)
        writer.writeObject(document, as: object, of: owner, in: schema)
        touches?.note(object, from: nil, to: document, of: owner)
        try flushIfFull()
    }

    func update(
        _ object: ObjectReference,
        from json: [UInt8],
        to content: Content
    ) throws {
        let owner = try owner(of: object)
        let old = try form.decodeDocument(json, of: owner)
        try separate(object)
        touches?.note(object, from: old, to: content.document, of: owner)
        for (position, property) in owner.properties.enumerated() {
            diff.write(
                from: old.values[position],
                to: content.document.values[position],
                of: property,
                in: object,
                into: &writer
            )
        }
        try transaction.putDocument(content.json, of: object, in: id)
        try flushIfFull()
    }

    func erase(_ object: ObjectReference) throws {
        try separate(object)
        if touches != nil, let json = try transaction.document(object, in: id) {
            let owner = try owner(of: object)
            touches?.note(
                object,
                from: try form.decodeDocument(json, of: owner),
                to: nil,
                of: owner
            )
        }
        writer.eraseObject(object)
        try transaction.removeDocument(object, in: id)
        try flushIfFull()
    }

    private func flushIfFull() throws {
        guard writer.sizeInBytes > Self.changesetSizeInBytes else { return }
        try appendChangeset()
    }

    /// A version has one image of each object.
    private func separate(_ object: ObjectReference) throws {
        if touches?.contains(object) == true { try appendChangeset() }
    }

    private func appendChangeset() throws {
        guard !writer.isEmpty else { return }
        try history.append(writer.bytes, by: .server)
        if let touched = touches?.take(at: history.file.currentVersion), !touched.isEmpty {
            try transaction.append(touched, to: id)
        }
        writer = ChangesetWriter()
    }

    /// Writes what is left of the history.
    func finish() throws {
        try appendChangeset()
        try history.flush()
    }
}
