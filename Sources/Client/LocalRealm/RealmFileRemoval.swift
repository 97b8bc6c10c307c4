internal import Glibc
internal import SQLite

/// Removes a realm's files, once no agent has them open (features, L3).
package struct RealmFileRemoval: Sendable {
    private let path: String

    package init(of path: String) {
        self.path = path
    }

    /// Removes the files.
    ///
    /// Writes between the last check and the end fail rather than get lost: programs that still
    /// have the old file open get an error for every write from then on.
    ///
    /// - Parameter force: also if the file has pending uploads, or cannot be read.
    /// - Returns: the removed files.
    /// - Throws: `realm.pending_uploads`, and any error of the file. It stays then.
    package func remove(force: Bool) throws(LocalRealmError) -> [String] {
        try RealmFile.mappingErrors(path) {
            let lock = try FileLock(path: path + ".lock")
            defer { withExtendedLifetime(lock) {} }
            guard access(path, F_OK) == 0 else { return try unlinkAll() }
            do {
                try close(force: force)
            } catch {
                // A file that cannot be read cannot be written either.
                guard force else { throw error }
            }
            return try unlinkAll()
        }
    }

    private func unlinkAll() throws(LocalRealmError) -> [String] {
        RealmFile.removeFreshCopy(of: path)
        var gone: [String] = []
        // The main file first: without it the others mean nothing.
        for suffix in ["", "-wal", "-shm"] {
            let file = path + suffix
            if unlink(file) == 0 {
                gone.append(file)
            } else if errno != ENOENT {
                let problem = String(cString: strerror(errno)).lowercased()
                throw LocalRealmError(.inputOutput, path: file, problem)
            }
        }
        return gone
    }

    /// Checks that nothing would be lost, and blocks all further writes if so.
    private func close(force: Bool) throws {
        guard FileHome.isEmptyOrLarger(than: 512, path) else {
            throw LocalRealmError(.notARealm, path: path, "the file is too short for a database")
        }
        let connection = try Connection(path: path, .init(mode: .readWrite))
        defer { connection.close() }
        try connection.transaction(.immediate) {
            guard try RealmStateRow.layoutVersion(on: connection) != nil else {
                throw LocalRealmError(.notARealm, path: path, "the file is not a local realm")
            }
            if !force { try requireUploaded(connection) }
            let tables = try connection.rows(
                "SELECT id, table_name FROM _realm_class WHERE table_name IS NOT NULL"
            )
            for case (.integer(let id), .text(let table)) in tables.map({ ($0[0], $0[1]) }) {
                for event in ["INSERT", "UPDATE", "DELETE"] {
                    let name = "\(Layout.prefix)\(id)_gone_\(event.lowercased())"
                    try connection.execute(
                        """
                        CREATE TRIGGER IF NOT EXISTS \(name) BEFORE \(event)
                        ON \(SQLText.name(table)) BEGIN
                          SELECT RAISE(ABORT, 'this realm was deleted; open its file again');
                        END
                        """
                    )
                }
            }
        }
    }

    private func requireUploaded(_ connection: Connection) throws {
        let hasUnsynced = try connection.integer(
            """
            SELECT 1 FROM _realm_history WHERE origin_file_ident = 0 AND length(changeset) > 0
              AND version > (SELECT upload_client_version FROM _realm_state) LIMIT 1
            """
        )
        guard try hasUnsynced == nil && CaptureLog.isEmpty(on: connection) else {
            throw LocalRealmError(
                .pendingUploads,
                path: path,
                "the file has writes that are not uploaded"
            )
        }
    }
}
