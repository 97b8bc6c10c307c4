import Changesets
import Documents
import Schemas
import ServerStore

/// The objects of a server file: JSON documents in the store, in the form that instructions change
/// (local realm, 11).
struct FileObjects: ObjectStore {
    private(set) var schema: RealmSchema
    /// Objects that would exceed the limit, and are unchanged.
    private(set) var tooLarge: Set<ObjectReference> = []
    /// Whether an object that was expected to be new exists; it is unchanged.
    private(set) var foundExisting = false
    private let documentLimitInBytes: Int
    /// Whether a sink takes the objects of asymmetric classes.
    private let hasSink: Bool
    private var forms: ClassForms
    let file: ServerFileID
    private let transaction: any FileWriting

    init(
        of file: ServerFileID,
        in transaction: any FileWriting,
        documentLimitInBytes: Int = .max,
        hasSink: Bool = false
    ) throws(StoreError) {
        self.documentLimitInBytes = documentLimitInBytes
        self.hasSink = hasSink
        let schema = try transaction.schema(of: file)
        self.schema = schema
        self.forms = ClassForms(schema)
        self.file = file
        self.transaction = transaction
    }

    /// Documents are unchanged: one that lacks a property has its default value.
    mutating func changeSchema(_ changes: [SchemaChange]) throws(StoreError) {
        for change in changes {
            switch change {
            case .classAdded, .propertyAdded: schema.replay(change)
            case .classErased, .propertyErased:
                preconditionFailure("SchemaPolicy lets nothing be taken away")
            }
        }
        forms = ClassForms(schema)
        try transaction.putSchema(schema, of: file)
    }

    func document(for object: ObjectReference) throws(StoreError) -> Document? {
        guard let json = try transaction.document(object, in: file) else { return nil }
        return try form(of: object).decodeStored(json, in: file)
    }

    mutating func setDocument(
        _ document: Document,
        for object: ObjectReference
    ) throws(StoreError) {
        guard try !isForSink(object) else { return }
        let json = try encoded(document, object)
        if json.count > documentLimitInBytes {
            let before = try transaction.document(object, in: file)?.count ?? 0
            // An object that was already larger may shrink.
            guard json.count <= before else {
                tooLarge.insert(object)
                return
            }
        }
        try transaction.putDocument(json, of: object, in: file)
    }

    mutating func addDocument(
        _ document: Document,
        for object: ObjectReference
    ) throws(StoreError) {
        guard try !isForSink(object) else { return }
        let json = try encoded(document, object)
        if json.count <= documentLimitInBytes {
            if try !transaction.addDocument(json, of: object, in: file) { foundExisting = true }
        } else if try transaction.document(object, in: file) == nil {
            tooLarge.insert(object)
        } else {
            foundExisting = true
        }
    }

    /// Adds the objects that a plain changeset creates; false, and nothing is changed, if that takes more than
    /// writing its values as documents.
    mutating func add(
        _ changeset: PlainChangeset,
        requiring required: Text?
    ) throws(StoreError) -> Bool {
        let writer = forms.plainWriter(requiring: required)
        guard let documents = writer.write(changeset, limitInBytes: documentLimitInBytes) else {
            return false
        }
        let areNew = try writer.withText { [transaction, file] text throws(StoreError) in
            var areNew = true
            for part in documents {
                let isNew = try transaction.addDocuments(
                    part.places,
                    in: text,
                    of: part.className,
                    to: file
                )
                areNew = areNew && isNew
            }
            return areNew
        }
        if !areNew { foundExisting = true }
        return true
    }

    func removeDocument(for object: ObjectReference) throws(StoreError) {
        try transaction.removeDocument(object, in: file)
    }

    func encoded(_ document: Document, _ object: ObjectReference) throws(StoreError) -> [UInt8] {
        try form(of: object).encode(document, key: object.key)
    }

    private func isForSink(_ object: ObjectReference) throws(StoreError) -> Bool {
        guard hasSink else { return false }
        guard let owner = schema[object.className] else { throw unknownClass(of: object) }
        return owner.isAsymmetric
    }

    private func form(of object: ObjectReference) throws(StoreError) -> ClassForm {
        guard let form = forms[object.className] else { throw unknownClass(of: object) }
        return form
    }

    private func unknownClass(of object: ObjectReference) -> StoreError {
        StoreError(
            .unusable,
            "server file \(file.rawValue) has objects of the unknown class \(object.className)"
        )
    }
}
