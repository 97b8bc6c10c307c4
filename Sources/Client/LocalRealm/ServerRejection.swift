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
    /// The object as it was before, as JSON.
    package let rowBefore: String?

    package init(
        className: String,
        key: ObjectKey?,
        reason: String,
        errorCode: Int,
        version: ServerVersion,
        rowBefore: String?
    ) {
        self.className = className
        self.key = key
        self.reason = reason
        self.errorCode = errorCode
        self.version = version
        self.rowBefore = rowBefore
    }
}

extension RealmFile {
    /// The current object as JSON; nil if there is none.
    package func row(of className: String, key: ObjectKey) throws(LocalRealmError) -> String? {
        try mappingErrors {
            let catalogue = committed.catalogue
            guard let owner = catalogue.schema[Text(className)] else { return nil }
            let tables = RealmTables(connection, catalogue, statements)
            let object = ObjectReference(className: owner.name, key: key)
            guard let document = try tables.document(for: object) else { return nil }
            let json = JSONForm(schema: catalogue.schema).encode(document, key: key, of: owner)
            return String(decoding: json, as: UTF8.self)
        }
    }

    /// Records rejected writes, and keeps the newest 1000 (interfaces, 2).
    package func keep(_ writes: [ServerRejection]) throws(LocalRealmError) {
        try mappingErrors {
            try write(.normal) { _ in
                for write in writes {
                    let statement = try connection.statement(
                        """
                        INSERT INTO _realm_reject(at, class, key, reason, error_code,
                          server_version, row_before) VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7)
                        """
                    )
                    try statement.bind(clock(), at: 1)
                    try statement.bind(write.className, at: 2)
                    try statement.bind(write.key.map(ColumnForm.encodeKey) ?? .null, at: 3)
                    try statement.bind(write.reason, at: 4)
                    try statement.bind(Int64(write.errorCode), at: 5)
                    try statement.bind(Int64(clamping: write.version.rawValue), at: 6)
                    if let row = write.rowBefore { try statement.bind(row, at: 7) }
                    try statement.run()
                }
                try connection.run(
                    "DELETE FROM _realm_reject WHERE id <= (SELECT max(id) FROM _realm_reject) - 1000"
                )
            }
        }
    }
}
