import Changesets
import Query
import QuerySQL
import ServerStore
import Versions

/// The views of flexible sync.
extension PostgreSQLTransaction {
    func viewEpochs(
        of client: FileIdent,
        in file: ServerFileID
    ) throws(StoreError) -> [ViewEpoch] {
        try ClientViewRows.epochs(
            try runner.read(ClientViewRows.readingEpochs(of: client, in: file))
        )
    }

    func viewRanges(
        of client: FileIdent,
        in file: ServerFileID,
        after version: ServerVersion
    ) throws(StoreError) -> [ViewRange] {
        try ClientViewRows.ranges(
            try runner.read(ClientViewRows.readingRanges(of: client, in: file, after: version))
        )
    }

    func rejections(
        of client: FileIdent,
        in file: ServerFileID,
        after version: ServerVersion
    ) throws(StoreError) -> [RecordedRejection] {
        if let known = buffer[file].rejected[client], known.start == version,
            case .recorded(let rejections) = known.content
        {
            return rejections
        }
        return try ClientViewRows.rejections(
            try runner.read(ClientViewRows.readingRejections(of: client, in: file, after: version))
        )
    }

    func append(
        _ epoch: ViewEpoch,
        of client: FileIdent,
        in file: ServerFileID
    ) throws(StoreError) {
        try hold(file)
        try runner.write(ClientViewRows.insertion(of: epoch, of: client, in: file))
    }

    func removeViewEpochs(
        of client: FileIdent,
        in file: ServerFileID,
        from start: ServerVersion,
        to end: ServerVersion
    ) throws(StoreError) {
        try hold(file)
        try runner.write(
            ClientViewRows.removalOfEpochs(of: client, in: file, from: start, to: end)
        )
    }

    func append(
        _ range: ViewRange,
        of client: FileIdent,
        in file: ServerFileID
    ) throws(StoreError) {
        try hold(file)
        try runner.write(ClientViewRows.insertion(of: range, of: client, in: file))
    }

    func removeViewRanges(
        of client: FileIdent,
        in file: ServerFileID,
        upTo version: ServerVersion
    ) throws(StoreError) {
        try hold(file)
        try runner.write(ClientViewRows.removalOfRanges(of: client, in: file, upTo: version))
    }

    func append(
        _ rejection: RecordedRejection,
        of client: FileIdent,
        in file: ServerFileID
    ) throws(StoreError) {
        try hold(file)
        try buffer.change(file) { $0.forgetRejected(of: client) }
        try runner.write(ClientViewRows.insertion(of: rejection, of: client, in: file))
    }

    func removeRejections(
        of client: FileIdent,
        in file: ServerFileID,
        upTo version: ServerVersion
    ) throws(StoreError) {
        try hold(file)
        try buffer.change(file) { $0.forgetRejected(of: client) }
        try runner.write(ClientViewRows.removalOfRejections(of: client, in: file, upTo: version))
    }

    // MARK: Touched objects

    func forEachTouchedObject(
        of file: ServerFileID,
        after start: ServerVersion,
        upTo end: ServerVersion,
        _ visit: (TouchedObject) throws(StoreError) -> Visit
    ) throws(StoreError) {
        var position = TouchedObjectRows.Position(after: start)
        while true {
            let rows = try runner.read(
                TouchedObjectRows.readingPage(of: file, after: position, upTo: end)
            )
            for row in 0..<rows.count {
                let touched = try TouchedObjectRows.touched(rows, row)
                position = touched.position
                if try visit(touched.object) == .stop { return }
            }
            guard rows.count == TouchedObjectRows.rowsAtOnce else { return }
        }
    }

    func touches(
        of object: ObjectReference,
        in file: ServerFileID,
        after version: ServerVersion
    ) throws(StoreError) -> [TouchedObject] {
        let rows = try runner.read(
            TouchedObjectRows.reading(ObjectRow(object), in: file, after: version)
        )
        return try rows.map { row throws(StoreError) in
            try TouchedObjectRows.touched(rows, row).object
        }
    }

    func append(_ touched: [TouchedObject], to file: ServerFileID) throws(StoreError) {
        guard !touched.isEmpty else { return }
        try hold(file)
        try runner.write(TouchedObjectRows.insertion(of: touched, to: file))
    }

    // MARK: Candidates

    func forEachCandidate(
        for queries: [CheckedQuery],
        of className: Text,
        in file: ServerFileID,
        after key: ObjectKey?,
        _ visit: (ObjectKey, [UInt8]) throws(StoreError) -> Visit
    ) throws(StoreError) {
        guard !queries.isEmpty else { return }
        let condition = SQLCondition(
            candidatesOfAny: queries,
            .postgreSQL,
            firstParameter: DocumentRows.conditionParameter
        )
        // No text of PostgreSQL has the name of such a property: the caller decides on every object.
        guard let condition, !condition.text.utf8.contains(0) else {
            return try forEachDocument(of: className, in: file, after: key, visit)
        }
        try forEachDocument(of: className, after: key, visit) { position in
            DocumentRows.readingPage(of: className, in: file, after: position, where: condition)
        }
    }
}
