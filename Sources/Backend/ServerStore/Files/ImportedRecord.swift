package import Changesets

/// The record of one object that `import data` wrote: it tells later runs whether clients have changed the object
/// since (moving an app, 6.4).
package struct ImportedRecord: Hashable, Sendable {
    /// The file that the object was written to.
    package let file: ServerFileID
    /// Of the document that was written.
    package let digest: UInt64

    package init(file: ServerFileID, digest: UInt64) {
        self.file = file
        self.digest = digest
    }
}

/// Reads the records of imported objects.
package protocol ImportReading {
    func importedRecord(
        of object: ObjectReference,
        in app: AppID
    ) throws(StoreError) -> ImportedRecord?

    /// Visits the records of a class after a key, in an arbitrary but fixed order.
    func forEachImportedRecord(
        of className: Text,
        in app: AppID,
        after key: ObjectKey?,
        _ visit: (ObjectKey, ImportedRecord) throws(StoreError) -> Visit
    ) throws(StoreError)
}

/// Writes the records of imported objects.
package protocol ImportWriting: ImportReading {
    /// Adds or replaces the record; nil removes it.
    func put(
        _ record: ImportedRecord?,
        of object: ObjectReference,
        in app: AppID
    ) throws(StoreError)
}

/// A store that keeps no such records: nothing can be imported into it.
extension ImportWriting {
    package func importedRecord(
        of object: ObjectReference,
        in app: AppID
    ) throws(StoreError) -> ImportedRecord? { nil }

    package func forEachImportedRecord(
        of className: Text,
        in app: AppID,
        after key: ObjectKey?,
        _ visit: (ObjectKey, ImportedRecord) throws(StoreError) -> Visit
    ) throws(StoreError) {}

    package func put(
        _ record: ImportedRecord?,
        of object: ObjectReference,
        in app: AppID
    ) throws(StoreError) {
        throw StoreError(
            .unacceptable,
            "this store takes no imported data; import into an SQLite store, and copy that with "
                + "\"store copy\""
        )
    }
}
