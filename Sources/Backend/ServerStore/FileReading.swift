package import Changesets
package import Schemas
package import Scopes
package import Versions

/// Reads the server files of one state of the store.
package protocol FileReading: ViewReading, ImportReading {
    func file(_ id: ServerFileID) throws(StoreError) -> ServerFile?
    func file(of app: AppID, _ partition: Partition) throws(StoreError) -> ServerFile?
    /// Every file of the app, in order of creation.
    func files(of app: AppID) throws(StoreError) -> [ServerFile]
    func clientFile(_ ident: FileIdent, in file: ServerFileID) throws(StoreError) -> ClientFile?
    /// Every client file, also of earlier generations, by ident.
    func clientFiles(in file: ServerFileID) throws(StoreError) -> [ClientFile]

    /// The salt of a version; nil if it is not in the history.
    func salt(of version: ServerVersion, in file: ServerFileID) throws(StoreError) -> Salt?

    /// Visits the entries after a version, oldest first, until the visitor stops.
    ///
    /// Entries by `reader` have no changeset: a client does not need its own. Entries for another
    /// client only are skipped.
    func forEachEntry(
        of file: ServerFileID,
        after version: ServerVersion,
        readBy reader: FileIdent,
        _ visit: (HistoryEntry) throws(StoreError) -> Visit
    ) throws(StoreError)

    /// Visits the entries of some versions, in ascending order, as `forEachEntry(of:after:readBy:_:)` does.
    /// Versions that the history does not have are skipped.
    func forEachEntry(
        of file: ServerFileID,
        at versions: [ServerVersion],
        readBy reader: FileIdent,
        _ visit: (HistoryEntry) throws(StoreError) -> Visit
    ) throws(StoreError)

    /// The entries after a version that only that client gets and that compensate its own writes,
    /// oldest first.
    func compensatingEntries(
        of file: ServerFileID,
        after version: ServerVersion,
        for client: FileIdent
    ) throws(StoreError) -> [HistoryEntry]

    /// Bytes of the entries after a version that only that client gets.
    func privateSizeInBytes(
        of file: ServerFileID,
        after version: ServerVersion,
        for client: FileIdent
    ) throws(StoreError) -> UInt64

    /// Visits the changesets of a snapshot after a version, as entries by the server.
    func forEachSnapshotEntry(
        of file: ServerFileID,
        in snapshot: ServerVersion,
        after version: ServerVersion,
        _ visit: (HistoryEntry) throws(StoreError) -> Visit
    ) throws(StoreError)

    /// Visits those of some versions, in ascending order.
    func forEachSnapshotEntry(
        of file: ServerFileID,
        in snapshot: ServerVersion,
        at versions: [ServerVersion],
        _ visit: (HistoryEntry) throws(StoreError) -> Visit
    ) throws(StoreError)

    /// Visits every changeset of the history, or of a snapshot, after a version, of every origin
    /// and for every recipient, oldest first. A snapshot of 0 is the history.
    func forEachChangeset(
        of file: ServerFileID,
        in snapshot: ServerVersion,
        after version: ServerVersion,
        _ visit: (ServerVersion, [UInt8]) throws(StoreError) -> Visit
    ) throws(StoreError)

    /// Bytes of the history after a version.
    func historySize(of file: ServerFile, after version: ServerVersion) throws(StoreError) -> UInt64

    /// Bytes of the entries after a version that a client gets: neither its own nor those for another
    /// client only. Stops counting beyond the limit, and reads no changeset.
    func sizeOfOthers(
        of file: ServerFileID,
        after version: ServerVersion,
        for client: FileIdent,
        limit: UInt64
    ) throws(StoreError) -> UInt64

    /// Bytes of all documents together.
    func documentSize(in file: ServerFileID) throws(StoreError) -> UInt64

    /// The number of realms and client files of a user, and whether one of them belongs to a file.
    func usage(of user: UserID, in file: ServerFileID?) throws(StoreError) -> UserUsage

    /// Bytes of changesets in the history by the user's client files.
    func historySize(of user: UserID) throws(StoreError) -> Int64

    /// Files of the app without a change from a client and without objects, of which no client was
    /// seen at or after a time; nil: without clients. By id, after the one named.
    func emptyFiles(
        of app: AppID,
        seenBefore time: Int64?,
        after file: ServerFileID?,
        limit: Int
    ) throws(StoreError) -> [ServerFileID]

    /// Files of the app with remains of earlier generations. By id, after the one named.
    func filesWithRemains(
        of app: AppID,
        after file: ServerFileID?,
        limit: Int
    ) throws(StoreError) -> [ServerFileID]

    /// Client files that no client has used, and that were made before a time.
    func unidentifiedClientFiles(
        of app: AppID,
        seenBefore time: Int64,
        limit: Int
    ) throws(StoreError) -> [ClientFileID]

    /// The reciprocals of history entries for one client, where they differ (sync history, 11.4).
    func reciprocals(
        for ident: FileIdent,
        in file: ServerFileID,
        after version: ServerVersion
    ) throws(StoreError) -> [ServerVersion: [UInt8]]

    /// The reciprocal of one entry; nil if it does not differ.
    func reciprocal(
        of version: ServerVersion,
        for ident: FileIdent,
        in file: ServerFileID
    ) throws(StoreError) -> [UInt8]?

    func schema(of file: ServerFileID) throws(StoreError) -> RealmSchema

    /// An object's JSON, by class and key (local realm, 11).
    func document(
        _ object: ObjectReference,
        in file: ServerFileID
    ) throws(StoreError) -> [UInt8]?

    /// The first object of a class whose property has a text as its value. Reads the whole class.
    func document(
        of className: Text,
        whose property: Text,
        is text: Text,
        in file: ServerFileID
    ) throws(StoreError) -> (ObjectKey, [UInt8])?

    /// The files of an app that have an object of a class with one of these keys, oldest first.
    func files(
        of app: AppID,
        withAnyOf keys: [ObjectKey],
        ofClass className: Text
    ) throws(StoreError) -> [ServerFileID]

    /// The number of objects of each class; classes without any are left out.
    func objectCounts(in file: ServerFileID) throws(StoreError) -> [Text: Int]

    /// The keys and documents of a class after a key, in an arbitrary but fixed order.
    func forEachDocument(
        of className: Text,
        in file: ServerFileID,
        after key: ObjectKey?,
        _ visit: (ObjectKey, [UInt8]) throws(StoreError) -> Visit
    ) throws(StoreError)
}

extension FileReading {
    /// One after the other: where a row costs no round trip, that is all it takes.
    package func forEachEntry(
        of file: ServerFileID,
        at versions: [ServerVersion],
        readBy reader: FileIdent,
        _ visit: (HistoryEntry) throws(StoreError) -> Visit
    ) throws(StoreError) {
        var visited = Visit.next
        for version in versions where visited == .next {
            try forEachEntry(of: file, after: version.previous, readBy: reader) {
                entry throws(StoreError) in
                if entry.version.version == version { visited = try visit(entry) }
                return .stop
            }
        }
    }

    package func forEachSnapshotEntry(
        of file: ServerFileID,
        in snapshot: ServerVersion,
        at versions: [ServerVersion],
        _ visit: (HistoryEntry) throws(StoreError) -> Visit
    ) throws(StoreError) {
        var visited = Visit.next
        for version in versions where visited == .next {
            try forEachSnapshotEntry(of: file, in: snapshot, after: version.previous) {
                entry throws(StoreError) in
                if entry.version.version == version { visited = try visit(entry) }
                return .stop
            }
        }
    }

    /// All keys and documents of a class.
    package func forEachDocument(
        of className: Text,
        in file: ServerFileID,
        _ visit: (ObjectKey, [UInt8]) throws(StoreError) -> Visit
    ) throws(StoreError) {
        try forEachDocument(of: className, in: file, after: nil, visit)
    }
}

extension ServerVersion {
    fileprivate var previous: ServerVersion { ServerVersion(rawValue - min(rawValue, 1)) }
}

/// Whether a visit continues.
package enum Visit: Sendable {
    case next
    case stop
}

/// Writes server files in a transaction.
package protocol FileWriting: FileReading, ViewWriting, ImportWriting {
    /// The salts of the versions that this transaction appends.
    var versionSalts: VersionSalts { get }

    /// The file of a partition, created if there is none.
    func makeFile(of app: AppID, _ partition: Partition) throws(StoreError) -> ServerFile

    /// Replaces the file's versions, generation and size.
    func update(_ file: ServerFile) throws(StoreError)

    /// Adds the next changeset of an unfinished snapshot; `now` in milliseconds since 1970.
    func appendSnapshot(
        _ changeset: [UInt8],
        at version: ServerVersion,
        of snapshot: ServerVersion,
        in file: ServerFileID,
        at now: Int64
    ) throws(StoreError)

    /// Removes a snapshot, or all that neither the file nor a client needs; not an unfinished one.
    func removeSnapshots(
        of file: ServerFileID,
        only snapshot: ServerVersion?
    ) throws(StoreError)

    /// Removes the remains of unfinished snapshots; none may be in progress.
    func removeUnfinishedSnapshots(of file: ServerFileID) throws(StoreError)

    /// Removes history up to a version.
    func trimHistory(of file: ServerFileID, upTo version: ServerVersion) throws(StoreError)

    /// Begins another generation of all the app's files, as `ServerFile.restart`. It takes no longer for
    /// many files or large ones: what is void may stay for `removeRemains`.
    func beginGeneration(of app: AppID) throws(StoreError)

    /// Removes a portion of what generations before the present one left of a file. Returns whether there
    /// may be more.
    func removeRemains(of file: ServerFileID) throws(StoreError) -> Bool

    /// An ident that no client file of this server file ever had, 2 at first.
    func takeFileIdent(in file: ServerFileID) throws(StoreError) -> FileIdent

    /// Adds the client file, or replaces its record.
    func put(_ client: ClientFile, in file: ServerFileID) throws(StoreError)

    /// Removes a server file if it is still one of `emptyFiles`.
    func removeIfEmpty(_ file: ServerFileID, seenBefore time: Int64?) throws(StoreError)

    /// Removes a client file; its ident is never given again.
    func removeClientFile(_ ident: FileIdent, in file: ServerFileID) throws(StoreError)

    /// Appends the next versions, oldest first. The last one becomes the file's current version,
    /// and entries by a client count as its user's history.
    func append(_ entries: [HistoryEntry], to file: ServerFileID) throws(StoreError)

    func putReciprocal(
        _ changeset: [UInt8],
        of version: ServerVersion,
        for ident: FileIdent,
        in file: ServerFileID
    ) throws(StoreError)

    func removeReciprocals(
        for ident: FileIdent,
        in file: ServerFileID,
        upTo version: ServerVersion
    ) throws(StoreError)

    func putSchema(_ schema: RealmSchema, of file: ServerFileID) throws(StoreError)
    func putDocument(
        _ document: [UInt8],
        of object: ObjectReference,
        in file: ServerFileID
    ) throws(StoreError)
    /// Returns false, without a change, if the object exists.
    func addDocument(
        _ document: [UInt8],
        of object: ObjectReference,
        in file: ServerFileID
    ) throws(StoreError) -> Bool
    /// Adds the documents at these places of a text that do not exist. Returns false if one exists.
    func addDocuments(
        _ places: [(key: ObjectKey, json: Range<Int>)],
        in text: UnsafeRawBufferPointer,
        of className: Text,
        to file: ServerFileID
    ) throws(StoreError) -> Bool
    func removeDocument(_ object: ObjectReference, in file: ServerFileID) throws(StoreError)
    func removeDocuments(ofClass className: Text, in file: ServerFileID) throws(StoreError)
}

extension FileWriting {
    package func addDocuments(
        _ places: [(key: ObjectKey, json: Range<Int>)],
        in text: UnsafeRawBufferPointer,
        of className: Text,
        to file: ServerFileID
    ) throws(StoreError) -> Bool {
        var areNew = true
        for place in places {
            let object = ObjectReference(className: className, key: place.key)
            let isNew = try addDocument(Array(text[place.json]), of: object, in: file)
            areNew = areNew && isNew
        }
        return areNew
    }
}
