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

/// A record to add or replace, or with nil to remove.
package typealias ImportedRecordChange = (object: ObjectReference, record: ImportedRecord?)

/// Reads the records of imported objects.
package protocol ImportReading {
    /// The records in the order of the objects; nil where there is none.
    func importedRecords(
        of objects: [ObjectReference],
        in app: AppID
    ) throws(StoreError) -> [ImportedRecord?]

    /// Visits the records of a class after a key, in an arbitrary but fixed order.
    func forEachImportedRecord(
        of className: Text,
        in app: AppID,
        after key: ObjectKey?,
        _ visit: (ObjectKey, ImportedRecord) throws(StoreError) -> Visit
    ) throws(StoreError)

    /// Whether a document is read with the bytes that were written; otherwise with equal values.
    var keepsSpelling: Bool { get }

    /// Reads documents that the body will ask for, together. A hint that changes no result.
    func expectDocuments(
        _ objects: [ObjectReference],
        in file: ServerFileID
    ) throws(StoreError)
}

/// Writes the records of imported objects.
package protocol ImportWriting: ImportReading {
    /// Each object once.
    func put(_ changes: [ImportedRecordChange], in app: AppID) throws(StoreError)
}

extension ImportReading {
    package func importedRecord(
        of object: ObjectReference,
        in app: AppID
    ) throws(StoreError) -> ImportedRecord? {
        try importedRecords(of: [object], in: app).first ?? nil
    }
}

extension ImportWriting {
    package func put(
        _ record: ImportedRecord?,
        of object: ObjectReference,
        in app: AppID
    ) throws(StoreError) {
        try put([(object, record)], in: app)
    }
}
