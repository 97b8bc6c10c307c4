import Glibc
package import Migration

/// One file of a source.
package struct SourceFile: Hashable, Sendable {
    /// `-` is standard input.
    package let path: String
    /// As the file's name tells it.
    package let collection: SourceCollection
    /// Whether it may be empty: the file of a collection without documents, beside others in a directory.
    package let mayBeEmpty: Bool

    package init(path: String, collection: SourceCollection, mayBeEmpty: Bool = false) {
        self.path = path
        self.collection = collection
        self.mayBeEmpty = mayBeEmpty
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
