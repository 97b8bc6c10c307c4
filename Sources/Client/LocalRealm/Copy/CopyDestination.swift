internal import Glibc

/// The destination of a file that appears whole or not at all, and never replaces another one.
///
/// The unfinished file is beside the destination as `NAME.partial`. The next copy removes what an
/// interrupted one left there.
final class CopyDestination {
    let destination: String
    let draft: String
    private var lock: FileLock?

    init(_ destination: String) throws {
        self.destination = destination
        self.draft = RealmCopy.draft(of: destination)
        try Self.requireVacancy(destination)
        let lockPath = draft + ".lock"
        repeat {
            lock = try FileLock(path: lockPath)
            // The previous holder may have removed the file before we had the lock.
        } while lock?.isStill(at: lockPath) == false
        removeDraft()
        try FileHome.createIfMissing(path: draft)
    }

    /// Publishes the finished draft, which must be closed, as the destination.
    func publish() throws {
        try Self.synchronise(draft, isDirectory: false)
        // Unlike a rename, a link never replaces a file.
        if link(draft, destination) == 0 {
            unlink(draft)
        } else if [EPERM, ENOTSUP].contains(errno) {
            // A file system without hard links.
            try Self.requireVacancy(destination)
            guard rename(draft, destination) == 0 else { throw Self.failure(destination) }
        } else {
            throw Self.failure(destination)
        }
        try Self.synchronise(Self.directory(of: destination), isDirectory: true)
    }

    /// Removes the unpublished draft.
    func clear() {
        removeDraft()
        guard lock != nil else { return }
        unlink(draft + ".lock")
        lock = nil
    }

    private func removeDraft() {
        for suffix in ["", "-journal", "-wal", "-shm"] { unlink(draft + suffix) }
    }

    private static func requireVacancy(_ path: String) throws {
        guard access(path, F_OK) != 0 else {
            throw LocalRealmError(.fileExists, path: path, "the file already exists")
        }
    }

    private static func synchronise(_ path: String, isDirectory: Bool) throws {
        let flags = isDirectory ? O_RDONLY | O_DIRECTORY : O_RDWR
        let descriptor = open(path, flags | O_CLOEXEC)
        guard descriptor >= 0 else { throw failure(path) }
        defer { close(descriptor) }
        guard fsync(descriptor) == 0 else { throw failure(path) }
    }

    private static func directory(of path: String) -> String {
        guard let slash = path.lastIndex(of: "/") else { return "." }
        return slash == path.startIndex ? "/" : String(path[..<slash])
    }

    private static func failure(_ path: String) -> LocalRealmError {
        let kind: LocalRealmError.Kind =
            switch errno {
            case EEXIST: .fileExists
            case ENOSPC, EDQUOT: .diskFull
            case EIO: .inputOutput
            default: .cannotOpen
            }
        return LocalRealmError(kind, path: path, String(cString: strerror(errno)).lowercased())
    }
}
