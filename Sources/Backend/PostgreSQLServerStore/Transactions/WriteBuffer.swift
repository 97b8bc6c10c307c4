import PostgreSQL
import ServerStore

/// The rows that a transaction has read or will write, by server file. Bodies that share the transaction write
/// one after the other: the writes of one that throws never happened.
struct WriteBuffer: Sendable {
    private(set) var files: [ServerFileID: FileBuffer] = [:]
    /// The state before the body that runs.
    private var before: [ServerFileID: FileBuffer]?

    /// The buffer of a file; an empty one if nothing is known of it.
    subscript(file: ServerFileID) -> FileBuffer {
        files[file] ?? empty(file)
    }

    mutating func change<Result>(
        _ file: ServerFileID,
        _ body: (inout FileBuffer) throws(StoreError) -> Result
    ) throws(StoreError) -> Result {
        let empty = empty(file)
        return try body(&files[file, default: empty])
    }

    private func empty(_ file: ServerFileID) -> FileBuffer {
        var buffer = FileBuffer(file)
        if before != nil { buffer.documents.beginLayer() }
        return buffer
    }

    mutating func remove(_ file: ServerFileID) {
        files[file] = nil
    }

    // MARK: Bodies

    mutating func beginBody() {
        for file in files.keys { files[file]?.documents.beginLayer() }
        before = files
    }

    /// The body returned: its writes count.
    mutating func keepBody() {
        before = nil
        for file in files.keys { files[file]?.documents.keepLayer() }
    }

    /// The body threw: its writes never happened.
    mutating func dropBody() {
        guard let before else { preconditionFailure("no body runs") }
        files = before
        self.before = nil
        for file in files.keys { files[file]?.documents.dropLayer() }
    }

    /// The statements for all changes, which the database then has.
    mutating func takeSteps() -> [Step] {
        files.keys.sorted { $0.rawValue < $1.rawValue }.flatMap { files[$0]?.takeSteps() ?? [] }
    }
}
