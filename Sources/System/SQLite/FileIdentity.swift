package import Glibc

/// Tells a file from another one that gets its name.
package struct FileIdentity: Equatable, Sendable {
    private let device: dev_t
    private let inode: ino_t

    /// Nil if there is no file of that name.
    package init?(path: String) {
        var file = stat()
        guard stat(path, &file) == 0 else { return nil }
        self.init(file)
    }

    /// Without the device, whose number may change with each start of the machine.
    package var inodeText: String { "\(inode)" }

    package init(_ status: stat) {
        self.device = status.st_dev
        self.inode = status.st_ino
    }
}
