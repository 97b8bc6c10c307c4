import Glibc
package import Migration

/// One file of a source.
package struct SourceFile: Hashable, Sendable {
    /// `-` is standard input.
    package let path: String
    /// As the file's name tells it.
    package let collection: SourceCollection

    package init(path: String, collection: SourceCollection) {
        self.path = path
        self.collection = collection
    }

    /// Bytes of the file; nil for a pipe.
    package var sizeInBytes: UInt64? {
        var status = stat()
        guard path != "-", stat(path, &status) == 0, status.st_mode & S_IFMT == S_IFREG else {
            return nil
        }
        return UInt64(clamping: status.st_size)
    }

    var isNamedBSON: Bool { path.hasSuffix(".bson") || path.hasSuffix(".bson.gz") }
}
