import Glibc

/// A file that grows line by line; lines are gathered before they are written.
package final class LineFile {
    private let path: String
    private let descriptor: Int32
    private var buffer: [UInt8] = []

    private static let bufferSizeInBytes = 64 << 10

    package init(_ path: String) throws(MigrationFailure) {
        self.path = path
        self.descriptor = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0o644)
        guard descriptor >= 0 else { throw failure }
    }

    deinit {
        close(descriptor)
    }

    package func append(_ bytes: some Sequence<UInt8>) throws(MigrationFailure) {
        buffer += bytes
        if buffer.count >= Self.bufferSizeInBytes { try flush() }
    }

    package func flush() throws(MigrationFailure) {
        var position = 0
        while position < buffer.count {
            let written = buffer.withUnsafeBytes {
                write(descriptor, $0.baseAddress.map { $0 + position }, buffer.count - position)
            }
            guard written > 0 else { throw failure }
            position += written
        }
        buffer.removeAll(keepingCapacity: true)
    }

    private var failure: MigrationFailure {
        MigrationFailure(
            "import.output",
            "\(path) cannot be written: \(String(cString: strerror(errno)))",
            remedy: "free disk space, or name another directory",
            exitStatus: 1
        )
    }
}
