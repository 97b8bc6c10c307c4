package import Changesets
internal import Documents
internal import SQLite
internal import Schemas
package import Versions

/// A write that the server refused, as the server reported it.
package struct ServerRejection: Hashable, Sendable {
    package let className: String
    /// Nil if it could not be read.
    package let key: ObjectKey?
    package let reason: String
    package let errorCode: Int
    /// The server version that undoes the write.
    package let version: ServerVersion

    package init(
        className: String,
        key: ObjectKey?,
        reason: String,
        errorCode: Int,
        version: ServerVersion
    ) {
        self.className = className
        self.key = key
        self.reason = reason
        self.errorCode = errorCode
        self.version = version
    }
}

extension RealmFile {
    /// The current object as JSON; nil if there is none.
    package func row(of className: String, key: ObjectKey) throws(LocalRealmError) -> String? {
        try mappingErrors { try row(of: className, key, committed.catalogue) }
    }

    private func row(
        of className: String,
        _ key: ObjectKey,
        _ catalogue: Catalogue
    ) throws -> String? {
        guard let owner = catalogue.schema[Text(className)] else { return nil }
        let tables = RealmTables(connection, catalogue, statements)
        let object = ObjectReference(className: owner.name, key: key)
        guard let document = try tables.document(for: object) else { return nil }
        let json = JSONForm(schema: catalogue.schema).encode(document, key: key, of: owner)
        return String(decoding: json, as: UTF8.self)
    }

    /// Records rejected writes with their rows as they are, and keeps the newest 1000 (interfaces, 2).
    ///
    /// Call it before the server's undo of the writes is integrated. One that is recorded already is left as
    /// it is: the server reports it again after a lost connection.
    package func keep(_ writes: [ServerRejection]) throws(LocalRealmError) {
        try mappingErrors {
            try write(.normal) { draft in
                for rejection in writes {
                    let key = rejection.key.map(ColumnForm.encodeKey) ?? .null
                    guard try !isRecorded(rejection, key) else { continue }
                    // The row may hold a value that cannot be read: the drain has still to restore it.
                    let text = rejection.key.flatMap { objectKey in
                        try? row(of: rejection.className, objectKey, draft.catalogue)
                    }
                    let statement = try connection.statement(
                        """
                        INSERT INTO _realm_reject(at, class, key, reason, error_code,
                          server_version, row_before) VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7)
                        """
                    )
                    try statement.bind(clock(), at: 1)
                    try statement.bind(rejection.className, at: 2)
                    try statement.bind(key, at: 3)
                    try statement.bind(rejection.reason, at: 4)
                    try statement.bind(Int64(rejection.errorCode), at: 5)
                    try statement.bind(Int64(clamping: rejection.version.rawValue), at: 6)
                    if let text { try statement.bind(text, at: 7) }
                    try statement.run()
                }
                try connection.run(
                    "DELETE FROM _realm_reject WHERE id <= (SELECT max(id) FROM _realm_reject) - 1000"
                )
            }
        }
    }

    private func isRecorded(_ rejection: ServerRejection, _ key: ColumnValue) throws -> Bool {
        let statement = try connection.statement(
            """
            SELECT 1 FROM _realm_reject WHERE server_version = ?1 AND class = ?2 AND key IS ?3
            """
        )
        defer { statement.reset() }
        try statement.bind(Int64(clamping: rejection.version.rawValue), at: 1)
        try statement.bind(rejection.className, at: 2)
        try statement.bind(key, at: 3)
        return try statement.step()
    }
}
