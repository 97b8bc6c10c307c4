package import Changesets
package import ServerStore

extension ScopedTransaction {
    package var keepsSpelling: Bool { transaction.keepsSpelling }

    package func importedRecords(
        of objects: [ObjectReference],
        in app: AppID
    ) throws(StoreError) -> [ImportedRecord?] {
        try transaction.importedRecords(of: objects, in: app)
    }

    package func forEachImportedRecord(
        of className: Text,
        in app: AppID,
        after key: ObjectKey?,
        _ visit: (ObjectKey, ImportedRecord) throws(StoreError) -> Visit
    ) throws(StoreError) {
        try transaction.forEachImportedRecord(of: className, in: app, after: key, visit)
    }

    package func put(_ changes: [ImportedRecordChange], in app: AppID) throws(StoreError) {
        try requireWhole(app)
        try transaction.put(changes, in: app)
    }

    package func expectDocuments(
        _ objects: [ObjectReference],
        in file: ServerFileID
    ) throws(StoreError) {
        try transaction.expectDocuments(objects, in: file)
    }
}
