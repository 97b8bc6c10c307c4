import Changesets
import Schemas
import Versions

func uploadCursor(_ client: UInt64, _ server: UInt64) -> UploadCursor {
    UploadCursor(
        clientVersion: ClientVersion(client),
        lastIntegratedServerVersion: ServerVersion(server)
    )
}

func downloadCursor(_ server: UInt64, _ client: UInt64) -> DownloadCursor {
    DownloadCursor(
        serverVersion: ServerVersion(server),
        lastIntegratedClientVersion: ClientVersion(client)
    )
}

/// A changeset as a client uploads it; without bytes an empty one.
func upload(
    _ client: UInt64,
    on server: UInt64,
    at timestamp: UInt64 = 1000,
    _ bytes: [UInt8] = Tasks.schema
) -> UploadChangeset {
    UploadChangeset(
        cursor: uploadCursor(client, server),
        originTimestamp: OriginTimestamp(timestamp),
        originFileIdent: .none,
        bytes: bytes
    )
}

/// Changesets about one class, as an application might make them.
enum Tasks {
    static func object(_ id: Int64) -> ObjectReference {
        ObjectReference(className: "Task", key: .int(id))
    }

    private static func changeset(_ write: (inout ChangesetWriter) -> Void) -> [UInt8] {
        var writer = ChangesetWriter()
        write(&writer)
        return writer.bytes
    }

    /// Adds the class `Task` with `title`, `count` and `tags`.
    static let schema = changeset { writer in
        writer.addTopLevelClass("Task", primaryKey: "_id", type: .int, isNullable: false)
        writer.addColumn("title", to: "Task", type: .string, isNullable: false, collection: .single)
        writer.addColumn("count", to: "Task", type: .int, isNullable: false, collection: .single)
        writer.addColumn("tags", to: "Task", type: .string, isNullable: false, collection: .list)
    }

    static func create(_ id: Int64, title: String) -> [UInt8] {
        changeset { writer in
            writer.createObject(object(id))
            writer.update(object(id), "title", to: .scalar(.string(Text(title))))
        }
    }

    static func setTitle(_ id: Int64, _ title: String) -> [UInt8] {
        changeset { $0.update(object(id), "title", to: .scalar(.string(Text(title)))) }
    }

    static func count(_ id: Int64, _ amount: Int64) -> [UInt8] {
        changeset { $0.addInteger(object(id), "count", amount: amount) }
    }

    static func appendTag(_ id: Int64, _ tag: String, at index: UInt32) -> [UInt8] {
        changeset { writer in
            writer.arrayInsert(
                object(id),
                "tags",
                path: [.index(index)],
                .scalar(.string(Text(tag))),
                priorSize: index
            )
        }
    }

    static func erase(_ id: Int64) -> [UInt8] {
        changeset { $0.eraseObject(object(id)) }
    }

    static func addColumn(_ name: Text, _ type: TypeCode) -> [UInt8] {
        changeset {
            $0.addColumn(name, to: "Task", type: type, isNullable: true, collection: .single)
        }
    }

    static func addClass(_ name: Text) -> [UInt8] {
        changeset { $0.addTopLevelClass(name, primaryKey: "_id", type: .int, isNullable: false) }
    }
}
