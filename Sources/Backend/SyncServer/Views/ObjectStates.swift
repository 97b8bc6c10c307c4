import Changesets
import Documents
import Permissions
import Query
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

    /// The erasure, and the visible fields of the object if it is stored and belongs to the view.
    func write(
        _ object: ObjectReference,
        document json: [UInt8]?,
        in view: ClientView,
        into writer: inout ChangesetWriter
    ) throws(StoreError) {
        writer.eraseObject(object)
        guard let json, let owner = schema[object.className] else { return }
        let document = try form.decodeStored(json, of: owner, in: file)
        guard view.contains(DocumentObject(key: object.key, document, of: owner), owner.name) else {
            return
        }
        let visible = document.masked(view.fields(of: owner.name), of: owner)
        writer.writeObject(visible, as: object, of: owner, in: schema)
    }
}
