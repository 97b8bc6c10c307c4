internal import Glibc
internal import SQLite

/// Copies of whole realms, and realms that start over (client reset, 11.3).
extension RealmFile {
    /// Writes the committed state of the realm to a new file, even while the realm is open
    /// elsewhere; the copy appears whole or not at all, and survives a power cut.
    ///
    /// An existing copy of this name is replaced.
    package static func copyCommitted(
        from path: String,
        to destination: String
    ) throws(LocalRealmError) {
        try mappingErrors(path) {
            let connection = try Connection(path: path, .init(mode: .readWrite))
            defer { connection.close() }
            let unfinished = destination + ".partial"
            unlink(unfinished)
            try connection.run("VACUUM INTO ?1", [.text(unfinished)])
            try publish(unfinished, as: destination)
        }
    }

    /// Archives the realm as a copy and removes it, so that it can start over.
    ///
    /// Programs that still have the old file open get errors from then on: their writes are either
    /// in the copy or refused, never lost. The call can be repeated after a crash at any point. A
    /// file that is not a realm is moved as it is.
    ///
    /// - Parameter copyPath: nil to keep nothing.
    /// - Throws: `locked` while an agent has the realm open; any error that prevents the copy, and
    ///   then nothing has changed.
    package static func setAside(
        _ path: String,
        to copyPath: String?,
        busyTimeout: Duration = .seconds(30)
    ) throws(LocalRealmError) {
        try mappingErrors(path) {
            let lock = try FileLock(path: path + ".lock")
            defer { withExtendedLifetime(lock) {} }
            guard access(path, F_OK) == 0 else { return remove(path) }
            // SQLite treats a shorter file as an empty database.
            guard FileHome.isEmptyOrLarger(than: 512, path) else {
                return try move(path, to: copyPath)
            }
            do {
                guard try empty(path, after: copyPath, busyTimeout) else {
                    return try move(path, to: copyPath)
                }
                remove(path)
            } catch  where isOfTheFileItself(error) {
                try move(path, to: copyPath)
            }
        }
    }

    /// Copies and empties the file under one lock, which excludes every other program's write.
    ///
    /// - Returns: false if the file is not a realm, and is unchanged.
    private static func empty(
        _ path: String,
        after copyPath: String?,
        _ busyTimeout: Duration
    ) throws -> Bool {
        let connection = try Connection(
            path: path,
            .init(mode: .readWrite, busyTimeout: busyTimeout)
        )
        defer { connection.close() }
        try connection.execute("PRAGMA foreign_keys = OFF; PRAGMA synchronous = FULL")
        return try connection.transaction(.immediate) {
            guard try RealmStateRow.layoutVersion(on: connection) != nil else {
                // An empty one was emptied here before the program ended; its copy exists.
                return try connection.integer("SELECT count(*) FROM sqlite_schema") == 0
            }
            if let copyPath { try copyCommitted(from: path, to: copyPath) }
            let parts = try connection.rows(
                """
                SELECT type, name FROM sqlite_schema
                WHERE type IN ('table', 'view') AND name NOT LIKE 'sqlite\\_%' ESCAPE '\\'
                """
            )
            for case (.text(let type), .text(let name)) in parts.map({ ($0[0], $0[1]) }) {
                // The tables behind the application's virtual ones are dropped with them.
                try connection.execute("DROP \(type) IF EXISTS \(SQLText.name(name))")
            }
            return true
        }
    }

    private static func move(_ path: String, to copyPath: String?) throws(LocalRealmError) {
        guard let copyPath else { return remove(path) }
        // Never replace an earlier archive.
        let place = access(copyPath, F_OK) == 0 ? copyPath + ".other" : copyPath
        for suffix in ["", "-wal", "-shm"] {
            guard rename(path + suffix, place + suffix) != 0, errno != ENOENT else { continue }
            throw LocalRealmError(.inputOutput, path: place, reason())
        }
        remove(path)
    }

    private static func publish(_ file: String, as name: String) throws(LocalRealmError) {
        try makeDurable(file, O_RDONLY)
        guard rename(file, name) == 0 else {
            throw LocalRealmError(.inputOutput, path: name, reason())
        }
        let directory = name.lastIndex(of: "/").map { String(name[..<$0]) } ?? "."
        try makeDurable(directory.isEmpty ? "/" : directory, O_RDONLY | O_DIRECTORY)
    }

    private static func makeDurable(_ path: String, _ flags: Int32) throws(LocalRealmError) {
        let descriptor = Glibc.open(path, flags | O_CLOEXEC)
        guard descriptor >= 0 else { throw LocalRealmError(.inputOutput, path: path, reason()) }
        defer { Glibc.close(descriptor) }
        guard fsync(descriptor) == 0 else {
            throw LocalRealmError(.inputOutput, path: path, reason())
        }
    }

    private static func reason() -> String { String(cString: strerror(errno)).lowercased() }

    /// Nothing can be read from the file, so it can only be kept as it is.
    private static func isOfTheFileItself(_ error: any Error) -> Bool {
        switch error {
        case let error as SQLiteError: [.notADatabase, .corrupt].contains(error.condition)
        case let error as LocalRealmError: [.notARealm, .corrupt].contains(error.kind)
        default: false
        }
    }
}
