import Changesets
import Schemas

final class FileObjects {
    var schema: RealmSchema
    init(of file: ServerFileID, in transaction: any StoreTransaction) throws(StoreError) {
        self.schema = try transaction.schema(of: file)
    }
    func apply(_ changeset: Changeset) throws {}
    func flush() throws(StoreError) {}
}
