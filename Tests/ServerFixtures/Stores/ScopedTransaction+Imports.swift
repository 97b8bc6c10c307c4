package import Changesets
package import ServerStore

extension ScopedTransaction {
    package func importedRecord(
        of object: ObjectReference,
        in app: AppID
    ) throws(StoreError) -> ImportedRecord? {
        try transaction.importedRecord(of: object, in: app)
    }

    package func forEachImportedRecord(
        of className: Text,
        in app: AppID,
        after key: ObjectKey?,
        _ visit: (ObjectKey, ImportedRecord) throws(StoreError) -> Visit
    ) throws(StoreError) {
        try transaction.forEachImportedRecord(of: className, in: app, after: key, visit)
    }

    package func put(
        _ record: ImportedRecord?,
        of object: ObjectReference,
        in app: AppID
    ) throws(StoreError) {
        try requireWhole(app)
        try transaction.put(record, of: object, in: app)
    }
}
