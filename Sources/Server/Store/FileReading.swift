package import Changesets
package import Schemas
package import Scopes
package import Versions

/// The server files of a state of the store.
package protocol FileReading {
    func file(_ id: ServerFileID) throws(StoreError) -> ServerFile?
    func file(of app: AppID, _ partition: Partition) throws(StoreError) -> ServerFile?
    /// Every file of the app, in the order they were made.
    func files(of app: AppID) throws(StoreError) -> [ServerFile]
    func clientFile(_ ident: FileIdent, in file: ServerFileID) throws(StoreError) -> ClientFile?
    /// Every client file that ever was, by ident.
    func clientFiles(in file: ServerFileID) throws(StoreError) -> [ClientFile]

    /// The salt of a version that is in the history; nil if it is not.
    func salt(of version: ServerVersion, in file: ServerFileID) throws(StoreError) -> Salt?

    /// Hands over the entries after a version, oldest first, until the visitor has enough.
    ///
    /// Entries made by `reader` come without their changeset: nobody needs their own back. Those that
    /// are for another client only do not come at all.
    func forEachEntry(
        of file: ServerFileID,
        after version: ServerVersion,
        readBy reader: FileIdent,
        _ visit: (HistoryEntry) throws(StoreError) -> Visit
    ) throws(StoreError)

    /// The entries after a version that only that client sees and that undo writes of its own, oldest
    /// first.
    func undoingEntries(
        of file: ServerFileID,
        after version: ServerVersion,
        for client: FileIdent
    ) throws(StoreError) -> [HistoryEntry]

    /// Bytes of the entries after a version that only that client sees.
    func privateSizeInBytes(
        of file: ServerFileID,
        after version: ServerVersion,
        for client: FileIdent
    ) throws(StoreError) -> UInt64

    /// Hands over the changesets of a snapshot after a version, as entries that the server made.
    func forEachSnapshotEntry(
        of file: ServerFileID,
        in snapshot: ServerVersion,
        after version: ServerVersion,
        _ visit: (HistoryEntry) throws(StoreError) -> Visit
    ) throws(StoreError)

    /// Hands over every changeset of the history, or of a snapshot, after a version, of every origin and
    /// for every recipient, oldest first. A snapshot of 0 is the history.
    func forEachChangeset(
        of file: ServerFileID,
        in snapshot: ServerVersion,
        after version: ServerVersion,
        _ visit: (ServerVersion, [UInt8]) throws(StoreError) -> Visit
    ) throws(StoreError)

    /// Bytes of the history after a version.
    func historySize(of file: ServerFile, after version: ServerVersion) throws(StoreError) -> UInt64

    /// Bytes of all documents together.
    func documentSize(in file: ServerFileID) throws(StoreError) -> UInt64

    /// How many realms and client files a user has, and whether one of them is of a file.
    func usage(of user: UserID, in file: ServerFileID?) throws(StoreError) -> UserUsage

    /// Bytes of changesets in the history that the user's client files have made.
    func historySize(of user: UserID) throws(StoreError) -> Int64

    /// Files of the app that never got anything from a client and hold no objects, of which no client was
    /// seen at or after a time; nil: that have no client. By id, after the one named.
    func emptyFiles(
        of app: AppID,
        seenBefore time: Int64?,
        after file: ServerFileID?,
        limit: Int
    ) throws(StoreError) -> [ServerFileID]

    /// What history entries became for one client, where that differs (sync history, 11.4).
    func reciprocals(
        for ident: FileIdent,
        in file: ServerFileID,
        after version: ServerVersion
    ) throws(StoreError) -> [ServerVersion: [UInt8]]

    /// The same for one entry; nil where it does not differ.
    func reciprocal(
        of version: ServerVersion,
        for ident: FileIdent,
        in file: ServerFileID
    ) throws(StoreError) -> [UInt8]?

    func schema(of file: ServerFileID) throws(StoreError) -> RealmSchema

    /// An object's JSON, found by class and key (local realm, 11).
    func document(
        _ object: ObjectReference,
        in file: ServerFileID
    ) throws(StoreError) -> [UInt8]?

    /// The first object of a class of which a property holds a text. The whole class is read.
    func document(
        of className: Text,
        whose property: Text,
        is text: Text,
        in file: ServerFileID
    ) throws(StoreError) -> (ObjectKey, [UInt8])?

    /// How many objects of each class there are; classes without any are left out.
    func objectCounts(in file: ServerFileID) throws(StoreError) -> [Text: Int]

    /// The keys and documents of a class after a key, in an order that means nothing and stays the
    /// same.
    func forEachDocument(
        of className: Text,
        in file: ServerFileID,
        after key: ObjectKey?,
        _ visit: (ObjectKey, [UInt8]) throws(StoreError) -> Visit
    ) throws(StoreError)
}

extension FileReading {
    /// All keys and documents of a class.
    package func forEachDocument(
        of className: Text,
        in file: ServerFileID,
        _ visit: (ObjectKey, [UInt8]) throws(StoreError) -> Visit
    ) throws(StoreError) {
        try forEachDocument(of: className, in: file, after: nil, visit)
    }
}

/// Whether a visitor wants more.
package enum Visit: Sendable {
    case next
    case stop
}

/// The server files of a state in the making.
package protocol FileWriting: FileReading {
    /// The file of a partition, made if there is none.
    func makeFile(of app: AppID, _ partition: Partition) throws(StoreError) -> ServerFile

    /// Replaces the versions, the generation and the size that are kept for the file.
    func update(_ file: ServerFile) throws(StoreError)

    /// Adds the next changeset of a snapshot that is being made; `now` in milliseconds since 1970.
    func appendSnapshot(
        _ changeset: [UInt8],
        at version: ServerVersion,
        of snapshot: ServerVersion,
        in file: ServerFileID,
        at now: Int64
    ) throws(StoreError)

    /// Removes a snapshot, or all that neither the file nor a client needs any more; not one that is
    /// being made.
    func removeSnapshots(
        of file: ServerFileID,
        only snapshot: ServerVersion?
    ) throws(StoreError)

    /// Removes what is left of a snapshot that was never finished; nobody may be making one.
    func removeUnfinishedSnapshots(of file: ServerFileID) throws(StoreError)

    /// Removes history up to a version.
    func trimHistory(of file: ServerFileID, upTo version: ServerVersion) throws(StoreError)

    /// Removes the whole history and all snapshots, and what it became for each client.
    func removeHistory(of file: ServerFileID) throws(StoreError)

    /// A number that no client file of this server file ever had, 2 at first.
    func takeFileIdent(in file: ServerFileID) throws(StoreError) -> FileIdent

    /// Adds the client file, or replaces what is known of it.
    func put(_ client: ClientFile, in file: ServerFileID) throws(StoreError)

    /// Removes client files for which no client has come yet; answers with their number.
    func removeUnidentifiedClientFiles(
        of app: AppID,
        seenBefore time: Int64,
        limit: Int
    ) throws(StoreError) -> Int

    /// Removes a server file that is still one of `emptyFiles`.
    func removeIfEmpty(_ file: ServerFileID, seenBefore time: Int64?) throws(StoreError)

    /// Removes a client file; its ident is never given again.
    func removeClientFile(_ ident: FileIdent, in file: ServerFileID) throws(StoreError)

    /// Appends the next versions, oldest first. The last one becomes the file's current version, and what
    /// a client made counts as its user's history.
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
    func removeDocument(_ object: ObjectReference, in file: ServerFileID) throws(StoreError)
    func removeDocuments(ofClass className: Text, in file: ServerFileID) throws(StoreError)
}
