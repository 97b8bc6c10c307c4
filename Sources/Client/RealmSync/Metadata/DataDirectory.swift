import Glibc

/// The agent's files below its data directory (interfaces, 1).
package struct DataDirectory: Sendable {
    package let path: String

    package init(path: String) {
        self.path = path
    }

    /// Accounts, tokens and the register of realms; readable by the agent alone.
    package var metadata: String { "\(privateDirectory)/metadata.sqlite" }

    /// Locked by the one agent that works on this directory.
    package var lock: String { "\(privateDirectory)/agent.lock" }

    /// The file of a realm, in a directory of its own so that its group can add `-wal` and `-shm`.
    package func realm(_ name: String) -> String {
        "\(path)/realms/\(name)/\(name).sqlite"
    }

    /// Copies and lost changes that resets and deletions keep.
    package var recovered: String { "\(path)/recovered" }

    private var privateDirectory: String { "\(path)/private" }

    /// The reason why a directory is not usable.
    package struct Failure: Error, CustomStringConvertible {
        package let path: String
        package let reason: String

        package init(path: String, reason: String) {
            self.path = path
            self.reason = reason
        }

        package var description: String {
            "\(path) cannot be used: \(reason); create it writable for the user of this program, "
                + "or set agent.data_directory"
        }
    }

    /// Creates missing directories, with modes that give the group access to realms only.
    package func prepare() throws(Failure) {
        try Self.create(path, mode: 0o750)
        try Self.create(privateDirectory, mode: 0o700)
        // It holds tokens. Fix the mode of an existing directory too.
        try Self.setMode(of: privateDirectory, 0o700)
        try Self.create("\(path)/realms", mode: 0o750)
    }

    /// Creates the directory of a realm file, with the group of its parent: `-wal` gets that group
    /// whichever process creates it.
    package static func prepareRealmDirectory(of file: String) throws(Failure) {
        try create(parent(of: file), mode: 0o2770)
    }

    package static func prepareRecovered(_ directory: String) throws(Failure) {
        try create(directory, mode: 0o750)
    }

    /// An existing directory keeps the mode that its owner gave it; missing ones above get 0750.
    private static func create(_ directory: String, mode: mode_t) throws(Failure) {
        if access("\(directory)/.", F_OK) == 0 { return }
        guard errno != ENOTDIR || access(directory, F_OK) != 0 else {
            throw Failure(path: directory, reason: "it is not a directory")
        }
        guard errno == ENOENT else { throw Failure(path: directory) }
        let parent = parent(of: directory)
        if parent != directory { try create(parent, mode: 0o750) }
        // Another process may have been faster.
        guard mkdir(directory, mode & 0o700) == 0 || errno == EEXIST else {
            throw Failure(path: directory)
        }
        try setMode(of: directory, mode)
    }

    /// Set apart from creating: the umask does not count, and the set-group-id bit does.
    private static func setMode(of directory: String, _ mode: mode_t) throws(Failure) {
        guard chmod(directory, mode) == 0 else { throw Failure(path: directory) }
    }

    private static func parent(of path: String) -> String {
        guard let slash = path.lastIndex(of: "/") else { return "." }
        return slash == path.startIndex ? "/" : String(path[..<slash])
    }
}

extension DataDirectory.Failure {
    /// An error with the reason of the system call that just failed.
    fileprivate init(path: String) {
        self.init(path: path, reason: String(cString: strerror(errno)))
    }
}
