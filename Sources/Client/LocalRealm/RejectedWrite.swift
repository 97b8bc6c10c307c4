package import Changesets
internal import Documents
internal import SQLite
internal import Schemas
package import Versions

/// A write that did not reach the other replicas, as recorded in the realm (local realm, 4.6;
/// interfaces, 2).
package struct RejectedWrite: Hashable, Sendable {
    /// Names a write that the server rejected in this file; nil for one of the drain.
    package let id: Int64?
    package let origin: Origin
    /// Milliseconds since 1970.
    package let at: Int64
    package let className: Text
    /// The primary key as an SQL literal.
    package let key: String
    package let reason: String

    package enum Origin: Hashable, Sendable {
        /// The drain found a value that no replica could hold, and restored the one before; nil
        /// means the key itself. The value is an SQL literal.
        case capture(property: Text?, value: String)
        /// The server refused the write and undid it; the row as it was, as JSON.
        case server(errorCode: Int, version: ServerVersion?, rowBefore: String?)
    }
}

extension RealmFile {
    /// The newest rejected writes, the newest first.
    package func rejectedWrites(limit: Int = 1000) throws(LocalRealmError) -> [RejectedWrite] {
        try mappingErrors {
            try RejectedWrites(
                connection: connection,
                classNames: committed.catalogue.classNames
            ).newest(limit)
        }
    }
}

extension RejectedWrite {
    /// The same for a file that is closed, or open in an agent; does not write to it.
    package static func read(path: String, limit: Int) throws(LocalRealmError) -> [RejectedWrite] {
        try RealmFile.reading(path) { connection in
            try connection.transaction(.deferred) {
                let catalogue = try CatalogueStore(connection: connection).load(options: [:])
                return try RejectedWrites(
                    connection: connection,
                    classNames: catalogue.classNames
                ).newest(limit)
            }
        }
    }
}

/// The tables that keep rejected writes.
struct RejectedWrites {
    let connection: Connection
    let classNames: [Int64: Text]

    func newest(_ limit: Int) throws -> [RejectedWrite] {
        let all = try captureRejects(limit) + serverRejects(limit)
        return Array(all.sorted { $0.at > $1.at }.prefix(limit))
    }

    private func captureRejects(_ limit: Int) throws -> [RejectedWrite] {
        let statement = try connection.statement(
            """
            SELECT i.at, i.class, i.key, p.name, i.value, i.reason
            FROM _realm_issue i LEFT JOIN _realm_property p ON p.id = i.prop
            ORDER BY i.id DESC LIMIT ?1
            """
        )
        defer { statement.reset() }
        try statement.bind(Int64(limit), at: 1)
        var rejects: [RejectedWrite] = []
        while try statement.step() {
            let name = classNames[statement.integer(at: 1)]
            let property = statement.storageClass(at: 3) == .null ? nil : statement.text(at: 3)
            rejects.append(
                RejectedWrite(
                    id: nil,
                    origin: .capture(
                        property: property.map { Text($0) },
                        value: SQLText.literal(statement.columnValue(at: 4))
                    ),
                    at: statement.integer(at: 0),
                    className: name ?? .empty,
                    key: SQLText.literal(statement.columnValue(at: 2)),
                    reason: statement.text(at: 5)
                )
            )
        }
        return rejects
    }

    private func serverRejects(_ limit: Int) throws -> [RejectedWrite] {
        let statement = try connection.statement(
            """
            SELECT at, class, key, reason, error_code, server_version, row_before, id
            FROM _realm_reject ORDER BY id DESC LIMIT ?1
            """
        )
        defer { statement.reset() }
        try statement.bind(Int64(limit), at: 1)
        var rejects: [RejectedWrite] = []
        while try statement.step() {
            let hasVersion = statement.storageClass(at: 5) != .null
            let hasRow = statement.storageClass(at: 6) != .null
            rejects.append(
                RejectedWrite(
                    id: statement.integer(at: 7),
                    origin: .server(
                        errorCode: Int(statement.integer(at: 4)),
                        version: hasVersion
                            ? ServerVersion(UInt64(clamping: statement.integer(at: 5))) : nil,
                        rowBefore: hasRow ? statement.text(at: 6) : nil
                    ),
                    at: statement.integer(at: 0),
                    className: Text(statement.text(at: 1)),
                    key: SQLText.literal(statement.columnValue(at: 2)),
                    reason: statement.text(at: 3)
                )
            )
        }
        return rejects
    }
}
