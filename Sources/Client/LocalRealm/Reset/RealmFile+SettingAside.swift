internal import Glibc
internal import SQLite

/// Copies of whole realms, and realms that begin anew (client reset, 11.3).
extension RealmFile {
    /// Writes what is committed in the realm at this moment to a new file, whoever has the realm open;
    /// the copy appears whole or not at all, and survives a power cut.
    ///
    /// A copy that carries this name already is replaced.
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

    /// Keeps the realm as a copy and takes it out of the way, so that it can begin anew.
    ///
    /// Programs that still have the old file open get errors from then on: what they write is either
    /// in the copy or refused, never lost. The call can be repeated after a crash at any point. A file
    /// that is no realm is moved as it is.
    ///
    /// - Parameter copyPath: nil to keep nothing.
    /// - Throws: `locked` while an agent has the realm open; what keeps the copy from being written,
    ///   and then nothing has changed.
    package static func setAside(
        _ path: String,
        to copyPath: String?,
        busyTimeout: Duration = .seconds(30)
    ) throws(LocalRealmError) {
        try mappingErrors(path) {
            let lock = try FileLock(path: path + ".lock")
            defer { withExtendedLifetime(lock) {} }
            guard access(path, F_OK) == 0 else { return remove(path) }
            // SQLite takes a shorter file for an empty database.
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

    /// Copies and empties the file under one lock, which no other program's write can slip through.
    ///
    /// - Returns: false if the file is no realm, and has not been touched.
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
                // One that is empty was emptied here before the program ended; its copy is made.
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
                // Tables behind the application's virtual ones have gone with them.
                try connection.execute("DROP \(type) IF EXISTS \(SQLText.name(name))")
            }
            return true
        }
    }

    private static func move(_ path: String, to copyPath: String?) throws(LocalRealmError) {
        guard let copyPath else { return remove(path) }
        // Never over what was kept before.
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

    /// Nothing can be read from the file, so that it can only be kept as it is.
    private static func isOfTheFileItself(_ error: any Error) -> Bool {
        switch error {
        case let error as SQLiteError: [.notADatabase, .corrupt].contains(error.condition)
        case let error as LocalRealmError: [.notARealm, .corrupt].contains(error.kind)
        default: false
        }
    }
}
