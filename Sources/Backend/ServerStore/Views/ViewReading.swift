package import Changesets
package import Query
package import Versions

/// Reads what flexible sync stores beside the history of a file, in one state of the store.
package protocol ViewReading {
    /// The views of a client file, oldest first.
    func viewEpochs(
        of client: FileIdent,
        in file: ServerFileID
    ) throws(StoreError) -> [ViewEpoch]

    /// The ranges of a client file that end after a version, oldest first.
    func viewRanges(
        of client: FileIdent,
        in file: ServerFileID,
        after version: ServerVersion
    ) throws(StoreError) -> [ViewRange]

    /// The rejections that a client file does not have yet, oldest first.
    func rejections(
        of client: FileIdent,
        in file: ServerFileID,
        after version: ServerVersion
    ) throws(StoreError) -> [RecordedRejection]

    /// Visits the objects touched after a version up to another one, oldest first, until the visitor
    /// stops.
    func forEachTouchedObject(
        of file: ServerFileID,
        after start: ServerVersion,
        upTo end: ServerVersion,
        _ visit: (TouchedObject) throws(StoreError) -> Visit
    ) throws(StoreError)

    /// The changes of one object after a version, oldest first.
    func touches(
        of object: ObjectReference,
        in file: ServerFileID,
        after version: ServerVersion
    ) throws(StoreError) -> [TouchedObject]

    /// Visits the keys and documents of a class after a key, in the order of `forEachDocument`, that
    /// match one of the queries, and perhaps others. The queries are of that class.
    func forEachCandidate(
        for queries: [CheckedQuery],
        of className: Text,
        in file: ServerFileID,
        after key: ObjectKey?,
        _ visit: (ObjectKey, [UInt8]) throws(StoreError) -> Visit
    ) throws(StoreError)
}

/// Writes the same in a transaction. What a trim of the history removes goes with it.
package protocol ViewWriting: ViewReading {
    /// Of versions that the transaction appends.
    func append(_ touched: [TouchedObject], to file: ServerFileID) throws(StoreError)

    func append(
        _ epoch: ViewEpoch,
        of client: FileIdent,
        in file: ServerFileID
    ) throws(StoreError)

    /// Removes the epochs that begin within the versions.
    func removeViewEpochs(
        of client: FileIdent,
        in file: ServerFileID,
        from start: ServerVersion,
        to end: ServerVersion
    ) throws(StoreError)

    func append(
        _ range: ViewRange,
        of client: FileIdent,
        in file: ServerFileID
    ) throws(StoreError)

    /// Removes the ranges that end at or before a version.
    func removeViewRanges(
        of client: FileIdent,
        in file: ServerFileID,
        upTo version: ServerVersion
    ) throws(StoreError)

    func append(
        _ rejection: RecordedRejection,
        of client: FileIdent,
        in file: ServerFileID
    ) throws(StoreError)

    /// Removes the rejections that a client file has been told, and has undone.
    func removeRejections(
        of client: FileIdent,
        in file: ServerFileID,
        upTo version: ServerVersion
    ) throws(StoreError)
}
