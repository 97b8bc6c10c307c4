internal import Glibc

/// The location of a file: a copy of the file has another one (local realm, 6, "Copies").
enum FileHome {
    /// Machine, file system and inode; nil if there is no such file.
    ///
    /// The file system's UUID identifies the device, since device numbers change between boots.
    static func describe(path: String, machineID: String) -> String? {
        var file = stat()
        var system = statvfs()
        guard stat(path, &file) == 0, statvfs(path, &system) == 0 else { return nil }
        return "\(machineID):\(String(system.f_fsid, radix: 16)):\(file.st_ino)"
    }

    /// False only if the file is not empty, but shorter than that.
    static func isEmptyOrLarger(than size: Int, _ path: String) -> Bool {
        var file = stat()
        guard stat(path, &file) == 0 else { return true }
        return file.st_size == 0 || file.st_size >= size
    }

    /// Whether the name is a symbolic link: SQLite puts the log beside its target.
    static func isLink(path: String) -> Bool {
        var file = stat()
        return lstat(path, &file) == 0 && file.st_mode & S_IFMT == S_IFLNK
    }

    static func size(of path: String) -> UInt64 {
        var file = stat()
        return stat(path, &file) == 0 ? UInt64(max(0, file.st_size)) : 0
    }

    /// Creates the file empty, readable and writable for its group, if it does not exist.
    static func createIfMissing(path: String) throws(FileLock.Failure) {
        let descriptor = open(path, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0o660)
        if descriptor >= 0 {
            // Nothing else in this process can have the new file open, so closing it releases no
            // lock.
            close(descriptor)
        } else if errno != EEXIST {
            throw .system(String(cString: strerror(errno)))
        }
    }
}
