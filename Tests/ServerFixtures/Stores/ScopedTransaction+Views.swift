package import Changesets
package import Query
package import ServerStore
package import Versions

extension ScopedTransaction: ViewWriting {
    package func viewEpochs(
        of client: FileIdent,
        in file: ServerFileID
    ) throws(StoreError) -> [ViewEpoch] {
        try transaction.viewEpochs(of: client, in: file)
    }

    package func viewRanges(
        of client: FileIdent,
        in file: ServerFileID,
        after version: ServerVersion
    ) throws(StoreError) -> [ViewRange] {
        try transaction.viewRanges(of: client, in: file, after: version)
    }

    package func rejections(
        of client: FileIdent,
        in file: ServerFileID,
        after version: ServerVersion
    ) throws(StoreError) -> [RecordedRejection] {
        try transaction.rejections(of: client, in: file, after: version)
    }

    package func forEachTouchedObject(
        of file: ServerFileID,
        after start: ServerVersion,
        upTo end: ServerVersion,
        _ visit: (TouchedObject) throws(StoreError) -> Visit
    ) throws(StoreError) {
        try transaction.forEachTouchedObject(of: file, after: start, upTo: end, visit)
    }

    package func touches(
        of object: ObjectReference,
        in file: ServerFileID,
        after version: ServerVersion
    ) throws(StoreError) -> [TouchedObject] {
        try transaction.touches(of: object, in: file, after: version)
    }

    package func forEachCandidate(
        for queries: [CheckedQuery],
        of className: Text,
        in file: ServerFileID,
        after key: ObjectKey?,
        _ visit: (ObjectKey, [UInt8]) throws(StoreError) -> Visit
    ) throws(StoreError) {
        try transaction.forEachCandidate(
            for: queries,
            of: className,
            in: file,
            after: key,
            visit
        )
    }

    package func append(
        _ touched: [TouchedObject],
        to file: ServerFileID
    ) throws(StoreError) {
        try require(file)
        try transaction.append(touched, to: file)
    }

    package func append(
        _ epoch: ViewEpoch,
        of client: FileIdent,
        in file: ServerFileID
    ) throws(StoreError) {
        try require(file)
        try transaction.append(epoch, of: client, in: file)
    }

    package func removeViewEpochs(
        of client: FileIdent,
        in file: ServerFileID,
        from start: ServerVersion,
        to end: ServerVersion
    ) throws(StoreError) {
        try require(file)
        try transaction.removeViewEpochs(of: client, in: file, from: start, to: end)
    }

    package func append(
        _ range: ViewRange,
        of client: FileIdent,
        in file: ServerFileID
    ) throws(StoreError) {
        try require(file)
        try transaction.append(range, of: client, in: file)
    }

    package func removeViewRanges(
        of client: FileIdent,
        in file: ServerFileID,
        upTo version: ServerVersion
    ) throws(StoreError) {
        try require(file)
        try transaction.removeViewRanges(of: client, in: file, upTo: version)
    }

    package func append(
        _ rejection: RecordedRejection,
        of client: FileIdent,
        in file: ServerFileID
    ) throws(StoreError) {
        try require(file)
        try transaction.append(rejection, of: client, in: file)
    }

    package func removeRejections(
        of client: FileIdent,
        in file: ServerFileID,
        upTo version: ServerVersion
    ) throws(StoreError) {
        try require(file)
        try transaction.removeRejections(of: client, in: file, upTo: version)
    }
}
