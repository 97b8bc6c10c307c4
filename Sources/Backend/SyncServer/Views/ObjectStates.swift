import Changesets
import Documents
import Schemas
import ServerStore

/// Writes objects as instructions that give a client their present state, also if it had another one
/// (flexible sync, 7 and 11.3).
struct ObjectStates {
    private let schema: RealmSchema
    private let form: JSONForm
    private let file: ServerFileID

    init(_ schema: RealmSchema, of file: ServerFileID) {
        self.schema = schema
        self.form = JSONForm(schema: schema)
        self.file = file
    }

    /// The erasure, and the stored object if it belongs to the client's view.
    func write(
        _ object: ObjectReference,
        isInView: Bool,
        into writer: inout ChangesetWriter,
        _ store: any FileReading
    ) throws(StoreError) {
        let json = isInView ? try store.document(object, in: file) : nil
        try write(object, document: json, into: &writer)
    }

    /// The erasure, and the object if a document is given.
    func write(
        _ object: ObjectReference,
        document json: [UInt8]?,
        into writer: inout ChangesetWriter
    ) throws(StoreError) {
        writer.eraseObject(object)
        guard let json, let owner = schema[object.className] else { return }
        do throws(FormError) {
            let document = try form.decodeDocument(json, of: owner)
            writer.writeObject(document, as: object, of: owner, in: schema)
        } catch {
            throw StoreError.damagedObject(of: object.className, in: file, error)
        }
    }
}
