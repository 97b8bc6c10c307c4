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

    /// Its two numbers.
    package var text: String { "\(device):\(inode)" }

    package init(_ status: stat) {
        self.device = status.st_dev
        self.inode = status.st_ino
    }
}
