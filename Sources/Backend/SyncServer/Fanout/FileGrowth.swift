import Changesets
import Documents
import Query
import Schemas
import ServerStore
import Versions

/// New versions of a file's history, as the sessions of flexible sync need to know them.
struct FileGrowth {
    /// The version up to which it has everything.
    let end: ServerVersion
    let content: Content
    /// The users whose custom data may have changed, if roles use it.
    var reviewed = Users.some([])

    enum Users: Equatable {
        case all
        case some(Set<UserID>)
    }

    enum Content {
        case changes(Changes)
        /// Too much to look at for all sessions together, or a change for all of them.
        case anything
    }

    struct Changes {
        /// The client files that made one of the versions.
        var authors: Set<FileIdent> = []
        var objects: [Change] = []
    }

    /// A changed object.
    struct Change {
        let className: Text
        /// Before and after the change, as far as the object existed.
        let images: [DocumentObject]
    }
}

/// Reads the growth of a file, once for all sessions of a process.
struct GrowthReader {
    let file: ServerFileID
    let settings: FlexibleSettings

    /// Nil if the file does not exist any more.
    func read(
        after start: ServerVersion,
        from store: any FileReading
    ) throws(StoreError) -> FileGrowth? {
        guard let known = try store.file(file) else { return nil }
        let end = known.currentVersion
        let schema = try store.schema(of: file)
        let mayChangeRights = settings.usesCustomData(schema)
        guard start >= known.baseVersion.version,
            let authors = try authors(after: start, store),
            let objects = try objects(after: start, upTo: end, schema, store)
        else {
            let reviewed = mayChangeRights ? FileGrowth.Users.all : .some([])
            return FileGrowth(end: end, content: .anything, reviewed: reviewed)
        }
        return FileGrowth(
            end: end,
            content: .changes(FileGrowth.Changes(authors: authors, objects: objects)),
            reviewed: .some(mayChangeRights ? users(of: objects, schema) : [])
        )
    }

    /// The users whose own objects changed.
    private func users(of changes: [FileGrowth.Change], _ schema: RealmSchema) -> Set<UserID> {
        guard let source = settings.customUserData, let owner = schema[source.className] else {
            return []
        }
        let position = owner.properties.firstIndex { $0.name == source.userIDField }
        let images = changes.filter { $0.className == owner.name }.flatMap(\.images)
        return Set(
            images.compactMap { image in
                let value = position.map { image.document.values[$0] }
                return Self.user(value ?? Value.scalar(image.key.scalar))
            }
        )
    }

    private static func user(_ id: Value) -> UserID? {
        switch id {
        case .scalar(.string(let text)): UserID(text.description)
        case .scalar(.objectID(let id)): UserID(id.description)
        default: nil
        }
    }

    /// Nil if a version is for all clients, or the history exceeds the limit. Versions for one client
    /// only follow a version of that client, or begin its view.
    private func authors(
        after start: ServerVersion,
        _ store: any FileReading
    ) throws(StoreError) -> Set<FileIdent>? {
        var authors: Set<FileIdent> = []
        var sizeInBytes = 0
        var concernsAll = false
        try store.forEachEntry(of: file, after: start, readBy: .server) { entry in
            sizeInBytes += entry.changeset.count
            concernsAll =
                sizeInBytes > settings.views.rangeSizeInBytes || entry.origin == .none
                || Self.changesSchema(entry)
            authors.insert(entry.origin)
            return concernsAll ? .stop : .next
        }
        return concernsAll ? nil : authors
    }

    /// One that cannot be decoded is left to the sessions' scans, which report it.
    private static func changesSchema(_ entry: HistoryEntry) -> Bool {
        guard !entry.changeset.isEmpty else { return false }
        guard let changeset = try? Changeset(decoding: entry.changeset) else { return true }
        return changeset.instructions.contains(where: \.changesSchema)
    }

    /// Nil beyond the limit, or if an image lacks a field that is queryable now.
    private func objects(
        after start: ServerVersion,
        upTo end: ServerVersion,
        _ schema: RealmSchema,
        _ store: any FileReading
    ) throws(StoreError) -> [FileGrowth.Change]? {
        let images = ObjectImages(schema, of: file, settings)
        var changes: [FileGrowth.Change] = []
        var sizeInBytes = 0
        var isComplete = true
        try store.forEachTouchedObject(of: file, after: start, upTo: end) {
            touch throws(StoreError) in
            sizeInBytes += touch.sizeInBytes
            guard sizeInBytes <= settings.views.touchedSizeInBytes else { return .stop }
            let different =
                touch.before == touch.after ? [touch.after] : [touch.before, touch.after]
            var objects: [DocumentObject] = []
            for image in different.compactMap(\.self) {
                guard let known = try images.object(image, touch.object) else { continue }
                objects.append(known.object)
                isComplete = isComplete && images.isUpToDate(known, of: touch.object.className)
            }
            changes.append(.init(className: touch.object.className, images: objects))
            return isComplete ? .next : .stop
        }
        return isComplete && sizeInBytes <= settings.views.touchedSizeInBytes ? changes : nil
    }
}
