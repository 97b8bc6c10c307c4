/// The name of an open file, and the file that had it when it was opened.
package struct OpenFileName: Sendable {
    package let path: String
    /// Nil if the file system did not tell: a VFS of tests, or a database in memory.
    private let identity: FileIdentity?

    package init(path: String) {
        self.path = path
        self.identity = FileIdentity(path: path)
    }

    /// Whether the name is gone, or another file has it: what is written into the open file would be lost.
    package var isReplaced: Bool {
        guard let identity else { return false }
        return FileIdentity(path: path) != identity
    }
}
