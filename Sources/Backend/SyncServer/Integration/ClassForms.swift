import Changesets
import Documents
import Schemas
import ServerStore

/// The documents of one class as the store keeps them, with everything that is the same in all of them
/// prepared.
final class ClassForm {
    let owner: ClassSchema
    private let form: JSONForm
    private let encoder: DocumentEncoder
    /// Most uploads only add objects.
    private lazy var decoder = DocumentDecoder(of: owner, form)

    init(of owner: ClassSchema, _ form: JSONForm) {
        self.owner = owner
        self.form = form
        self.encoder = DocumentEncoder(of: owner, form)
    }

    func encode(_ document: Document, key: ObjectKey) -> [UInt8] {
        encoder.encode(document, key: key)
    }

    func decodeStored(_ json: [UInt8], in file: ServerFileID) throws(StoreError) -> Document {
        try decoder.decodeStored(json, in: file)
    }
}

/// The forms of the classes that an upload touches, for one schema.
final class ClassForms {
    private let schema: RealmSchema
    private let form: JSONForm
    private var known: [Text: ClassForm] = [:]
    /// Usually that of the next object, too: comparing a name is cheaper than hashing it.
    private var last: ClassForm?
    private var plain: (required: Text?, writer: PlainDocumentWriter)?

    init(_ schema: RealmSchema) {
        self.schema = schema
        self.form = JSONForm(schema: schema)
    }

    /// Nil for a class that is not in the schema.
    subscript(className: Text) -> ClassForm? {
        if let last, last.owner.name == className { return last }
        guard let found = known[className] ?? make(className) else { return nil }
        last = found
        return found
    }

    /// Writes new objects without `ClassForm`; each sets the required property if its class has it.
    func plainWriter(requiring required: Text?) -> PlainDocumentWriter {
        if let plain, plain.required == required { return plain.writer }
        let writer = PlainDocumentWriter(schema, requiring: required)
        plain = (required, writer)
        return writer
    }

    private func make(_ className: Text) -> ClassForm? {
        guard let owner = schema[className] else { return nil }
        let new = ClassForm(of: owner, form)
        known[className] = new
        return new
    }
}
