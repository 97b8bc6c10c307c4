package import Changesets
package import Schemas
package import Scopes
package import ServerStore
package import Versions

// MARK: Reading

extension ScopedTransaction: FileReading {
    package func file(_ id: ServerFileID) throws(StoreError) -> ServerFile? {
        try transaction.file(id)
    }

    package func file(of app: AppID, _ partition: Partition) throws(StoreError) -> ServerFile? {
        try transaction.file(of: app, partition)
    }

    package func files(of app: AppID) throws(StoreError) -> [ServerFile] {
        try transaction.files(of: app)
    }

    package func filesWithRemains(
        of app: AppID,
        after file: ServerFileID?,
        limit: Int
    ) throws(StoreError) -> [ServerFileID] {
        try transaction.filesWithRemains(of: app, after: file, limit: limit)
    }

    package func clientFile(
        _ ident: FileIdent,
        in file: ServerFileID
    ) throws(StoreError) -> ClientFile? {
        try transaction.clientFile(ident, in: file)
    }

    package func clientFiles(in file: ServerFileID) throws(StoreError) -> [ClientFile] {
        try transaction.clientFiles(in: file)
    }

    package func salt(
        of version: ServerVersion,
        in file: ServerFileID
    ) throws(StoreError) -> Salt? {
        try transaction.salt(of: version, in: file)
    }

    package func forEachEntry(
        of file: ServerFileID,
        after version: ServerVersion,
        readBy reader: FileIdent,
        _ visit: (HistoryEntry) throws(StoreError) -> Visit
    ) throws(StoreError) {
        try transaction.forEachEntry(of: file, after: version, readBy: reader, visit)
    }

    package func forEachEntry(
        of file: ServerFileID,
        at versions: [ServerVersion],
        readBy reader: FileIdent,
        _ visit: (HistoryEntry) throws(StoreError) -> Visit
    ) throws(StoreError) {
        try transaction.forEachEntry(of: file, at: versions, readBy: reader, visit)
    }

    package func forEachSnapshotEntry(
        of file: ServerFileID,
        in snapshot: ServerVersion,
        at versions: [ServerVersion],
        _ visit: (HistoryEntry) throws(StoreError) -> Visit
    ) throws(StoreError) {
        try transaction.forEachSnapshotEntry(of: file, in: snapshot, at: versions, visit)
    }

    package func compensatingEntries(
        of file: ServerFileID,
        after version: ServerVersion,
        for client: FileIdent
    ) throws(StoreError) -> [HistoryEntry] {
        try transaction.compensatingEntries(of: file, after: version, for: client)
    }

    package func privateSizeInBytes(
        of file: ServerFileID,
        after version: ServerVersion,
        for client: FileIdent
    ) throws(StoreError) -> UInt64 {
        try transaction.privateSizeInBytes(of: file, after: version, for: client)
    }

    package func forEachSnapshotEntry(
        of file: ServerFileID,
        in snapshot: ServerVersion,
        after version: ServerVersion,
        _ visit: (HistoryEntry) throws(StoreError) -> Visit
    ) throws(StoreError) {
        try transaction.forEachSnapshotEntry(of: file, in: snapshot, after: version, visit)
    }

    package func forEachChangeset(
        of file: ServerFileID,
        in snapshot: ServerVersion,
        after version: ServerVersion,
        _ visit: (ServerVersion, [UInt8]) throws(StoreError) -> Visit
    ) throws(StoreError) {
        try transaction.forEachChangeset(of: file, in: snapshot, after: version, visit)
    }

    package func historySize(
        of file: ServerFile,
        after version: ServerVersion
    ) throws(StoreError) -> UInt64 {
        try transaction.historySize(of: file, after: version)
    }

    package func sizeOfOthers(
        of file: ServerFileID,
        after version: ServerVersion,
        for client: FileIdent,
        limit: UInt64
    ) throws(StoreError) -> UInt64 {
        try transaction.sizeOfOthers(of: file, after: version, for: client, limit: limit)
    }

    package func documentSize(in file: ServerFileID) throws(StoreError) -> UInt64 {
        try transaction.documentSize(in: file)
    }

    package func usage(of user: UserID, in file: ServerFileID?) throws(StoreError) -> UserUsage {
        try transaction.usage(of: user, in: file)
    }

    package func historySize(of user: UserID) throws(StoreError) -> Int64 {
        try transaction.historySize(of: user)
    }

    package func emptyFiles(
        of app: AppID,
        seenBefore time: Int64?,
        after file: ServerFileID?,
        limit: Int
    ) throws(StoreError) -> [ServerFileID] {
        try transaction.emptyFiles(of: app, seenBefore: time, after: file, limit: limit)
    }

    package func unidentifiedClientFiles(
        of app: AppID,
        seenBefore time: Int64,
        limit: Int
    ) throws(StoreError) -> [ClientFileID] {
        try transaction.unidentifiedClientFiles(of: app, seenBefore: time, limit: limit)
    }

    package func reciprocals(
        for ident: FileIdent,
        in file: ServerFileID,
        after version: ServerVersion
    ) throws(StoreError) -> [ServerVersion: [UInt8]] {
        try transaction.reciprocals(for: ident, in: file, after: version)
    }

    package func reciprocal(
        of version: ServerVersion,
        for ident: FileIdent,
        in file: ServerFileID
    ) throws(StoreError) -> [UInt8]? {
        try transaction.reciprocal(of: version, for: ident, in: file)
    }

    package func schema(of file: ServerFileID) throws(StoreError) -> RealmSchema {
        try transaction.schema(of: file)
    }

    package func document(
        _ object: ObjectReference,
        in file: ServerFileID
    ) throws(StoreError) -> [UInt8]? {
        try transaction.document(object, in: file)
    }

    package func files(
        of app: AppID,
        withAnyOf keys: [ObjectKey],
        ofClass className: Text
    ) throws(StoreError) -> [ServerFileID] {
        try transaction.files(of: app, withAnyOf: keys, ofClass: className)
    }

    package func document(
        of className: Text,
        whose property: Text,
        is text: Text,
        in file: ServerFileID
    ) throws(StoreError) -> (ObjectKey, [UInt8])? {
        try transaction.document(of: className, whose: property, is: text, in: file)
    }

    package func objectCounts(in file: ServerFileID) throws(StoreError) -> [Text: Int] {
        try transaction.objectCounts(in: file)
    }

    package func forEachDocument(
        of className: Text,
        in file: ServerFileID,
        after key: ObjectKey?,
        _ visit: (ObjectKey, [UInt8]) throws(StoreError) -> Visit
    ) throws(StoreError) {
        try transaction.forEachDocument(of: className, in: file, after: key, visit)
    }
}

// MARK: Writing

extension ScopedTransaction: FileWriting {
    package var versionSalts: VersionSalts { transaction.versionSalts }

    package func makeFile(of app: AppID, _ partition: Partition) throws(StoreError) -> ServerFile {
        try requirePartition(partition, of: app)
        return try transaction.makeFile(of: app, partition)
    }

    package func update(_ file: ServerFile) throws(StoreError) {
        try require(file.id)
        try transaction.update(file)
    }

    package func appendSnapshot(
        _ changeset: [UInt8],
        at version: ServerVersion,
        of snapshot: ServerVersion,
        in file: ServerFileID,
        at now: Int64
    ) throws(StoreError) {
        try require(file)
        try transaction.appendSnapshot(changeset, at: version, of: snapshot, in: file, at: now)
    }

    package func removeSnapshots(
        of file: ServerFileID,
        only snapshot: ServerVersion?
    ) throws(StoreError) {
        try require(file)
        try transaction.removeSnapshots(of: file, only: snapshot)
    }

    package func removeUnfinishedSnapshots(of file: ServerFileID) throws(StoreError) {
        try require(file)
        try transaction.removeUnfinishedSnapshots(of: file)
    }

    package func trimHistory(
        of file: ServerFileID,
        upTo version: ServerVersion
    ) throws(StoreError) {
        try require(file)
        try transaction.trimHistory(of: file, upTo: version)
    }

    package func beginGeneration(of app: AppID) throws(StoreError) {
        try requireWhole(app)
        try transaction.beginGeneration(of: app)
    }

    package func removeRemains(of file: ServerFileID) throws(StoreError) -> Bool {
        try require(file)
        return try transaction.removeRemains(of: file)
    }

    package func takeFileIdent(in file: ServerFileID) throws(StoreError) -> FileIdent {
        try require(file)
        return try transaction.takeFileIdent(in: file)
    }

    package func put(_ client: ClientFile, in file: ServerFileID) throws(StoreError) {
        try require(file)
        try transaction.put(client, in: file)
    }

    package func removeIfEmpty(_ file: ServerFileID, seenBefore time: Int64?) throws(StoreError) {
        try require(file)
        try transaction.removeIfEmpty(file, seenBefore: time)
    }

    package func removeClientFile(_ ident: FileIdent, in file: ServerFileID) throws(StoreError) {
        try require(file)
        try transaction.removeClientFile(ident, in: file)
    }

    package func append(_ entries: [HistoryEntry], to file: ServerFileID) throws(StoreError) {
        try require(file)
        try transaction.append(entries, to: file)
    }

    package func putReciprocal(
        _ changeset: [UInt8],
        of version: ServerVersion,
        for ident: FileIdent,
        in file: ServerFileID
    ) throws(StoreError) {
        try require(file)
        try transaction.putReciprocal(changeset, of: version, for: ident, in: file)
    }

    package func removeReciprocals(
        for ident: FileIdent,
        in file: ServerFileID,
        upTo version: ServerVersion
    ) throws(StoreError) {
        try require(file)
        try transaction.removeReciprocals(for: ident, in: file, upTo: version)
    }

    package func putSchema(_ schema: RealmSchema, of file: ServerFileID) throws(StoreError) {
        try require(file)
        try transaction.putSchema(schema, of: file)
    }

    package func putDocument(
        _ document: [UInt8],
        of object: ObjectReference,
        in file: ServerFileID
    ) throws(StoreError) {
        try require(file)
        try transaction.putDocument(document, of: object, in: file)
    }

    package func addDocument(
        _ document: [UInt8],
        of object: ObjectReference,
        in file: ServerFileID
    ) throws(StoreError) -> Bool {
        try require(file)
        return try transaction.addDocument(document, of: object, in: file)
    }

    package func removeDocument(
        _ object: ObjectReference,
        in file: ServerFileID
    ) throws(StoreError) {
        try require(file)
        try transaction.removeDocument(object, in: file)
    }

    package func removeDocuments(
        ofClass className: Text,
        in file: ServerFileID
    ) throws(StoreError) {
        try require(file)
        try transaction.removeDocuments(ofClass: className, in: file)
    }
}
