import Changesets
import LocalRealm
import SQLite
import Versions

/// How fast a realm takes in what others have written: new objects, updates, long lists.
struct ApplyCosts {
    private let folder: Folder
    private let objects: Int
    private let report: Report
    private let rows = Rows.scalars

    init(_ folder: Folder, _ objects: Int, bare: Duration) {
        self.folder = folder
        self.objects = objects
        self.report = Report(objects: objects, bare: bare)
    }

    func measure() throws {
        try measureDrained()
        try measureUpdates()
        try measureLists()
    }

    /// What `InsertCosts` has written and drained, as another realm downloads it.
    private func measureDrained() throws {
        let (creations, updates) = try drained()
        let realm = try rows.open(folder.file("reader"), isDeclared: false)
        defer { realm.close() }
        report.print(
            "apply created objects",
            try timed { try integrate(creations, into: realm) },
            instructions: objects * 11
        )
        report.print(
            "apply updates of one field",
            try timed { try integrate(updates, into: realm) },
            instructions: objects
        )
    }

    /// Ten rounds over a tenth of the objects, in no order, each time two fields.
    private func measureUpdates() throws {
        let realm = try rows.open(folder.file("reader"), isDeclared: false)
        defer { realm.close() }
        let some = max(1, objects / 10)
        var downloads: [DownloadChangeset] = []
        for round in 0..<10 {
            var writer = ChangesetWriter()
            for number in 0..<some {
                let object = ObjectReference(
                    className: "Item",
                    key: .objectID(Rows.objectID((number &* 7919) % objects))
                )
                writer.update(object, "size", to: .scalar(.int(Int64(round))))
                writer.update(object, "name", to: .scalar(.string("renamed")))
            }
            downloads.append(download(2_000_000 + round, writer.bytes))
        }
        report.print(
            "apply ten updates of two fields to each",
            try timed { try integrate(downloads, into: realm) },
            objects: some * 10,
            instructions: some * 20
        )
    }

    /// Objects with thirty elements each, and one with very many.
    private func measureLists() throws {
        let some = max(1, objects / 10)
        let realm = try Rows.collections.open(folder.file("lists"))
        defer { realm.close() }
        var writer = ChangesetWriter()
        for number in 0..<some {
            let object = ObjectReference(
                className: "Item",
                key: .objectID(Rows.objectID(number))
            )
            writer.createObject(object)
            append(0..<30, to: object, &writer)
        }
        report.print(
            "apply objects with thirty list inserts",
            try timed {
                try integrate([download(1, writer.bytes)], into: realm)
            },
            objects: some,
            instructions: some * 31
        )
        let long = ObjectReference(className: "Item", key: .objectID(Rows.objectID(0)))
        var inserts = ChangesetWriter()
        append(30..<some + 30, to: long, &inserts)
        report.print(
            "apply list inserts into one object",
            try timed {
                try integrate([download(2, inserts.bytes)], into: realm)
            },
            objects: some,
            instructions: some
        )
    }

    private func append(
        _ numbers: Range<Int>,
        to object: ObjectReference,
        _ writer: inout ChangesetWriter
    ) {
        for number in numbers {
            writer.arrayInsert(
                object,
                "tags",
                path: [.index(UInt32(number))],
                .scalar(.string("tag")),
                priorSize: UInt32(number)
            )
        }
    }
}

// MARK: Downloads

extension ApplyCosts {
    /// The changesets in the history of the other realm: those that create, and the updates.
    private func drained() throws -> ([DownloadChangeset], [DownloadChangeset]) {
        let connection = try Connection(path: folder.file("captured-1"))
        let statement = try connection.prepare(
            "SELECT version, changeset FROM _realm_history WHERE size > 0 ORDER BY version"
        )
        var downloads: [DownloadChangeset] = []
        while try statement.step() {
            downloads.append(download(Int(statement.integer(at: 0)), statement.bytes(at: 1)))
        }
        let isCreation = { (download: DownloadChangeset) in
            guard let changeset = try? Changeset(decoding: download.bytes) else { return false }
            return changeset.instructions.contains {
                $0.code == .createObject || $0.code == .addTable
            }
        }
        return (downloads.filter(isCreation), downloads.filter { !isCreation($0) })
    }

    private func download(_ version: Int, _ bytes: [UInt8]) -> DownloadChangeset {
        DownloadChangeset(
            cursor: DownloadCursor(
                serverVersion: ServerVersion(UInt64(version)),
                lastIntegratedClientVersion: .zero
            ),
            originTimestamp: OriginTimestamp(1),
            originFileIdent: FileIdent(9),
            originalSizeInBytes: UInt64(bytes.count),
            bytes: bytes
        )
    }

    /// One transaction for all of them, as for one message of the server.
    private func integrate(_ downloads: [DownloadChangeset], into realm: RealmFile) throws {
        guard let last = downloads.last else { return }
        let version = last.cursor.serverVersion
        _ = try realm.integrate(
            downloads,
            progress: SyncProgress(
                latestServerVersion: SaltedServerVersion(version: version, salt: Salt(1)),
                download: DownloadCursor(
                    serverVersion: version,
                    lastIntegratedClientVersion: .zero
                ),
                upload: .zero
            ),
            downloadableBytes: 0
        )
    }
}
