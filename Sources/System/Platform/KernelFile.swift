import Glibc

/// A file that the kernel makes while it is read: those below `/proc` and `/sys`.
///
/// Their size is shown as zero, and a read returns at most a page; Foundation takes the first page for the whole
/// file.
package enum KernelFile {
    private static let mostBytes = 4 << 20

    /// The text of the file, at most its first 4 MiB; nil if it cannot be read.
    package static func text(at path: String) -> String? {
        let descriptor = open(path, O_RDONLY | O_CLOEXEC)
        guard descriptor >= 0 else { return nil }
        defer { close(descriptor) }
        var bytes: [UInt8] = []
        var buffer = [UInt8](repeating: 0, count: 1 << 16)
        while bytes.count < mostBytes {
            let count = read(descriptor, &buffer, buffer.count)
            if count < 0, errno == EINTR { continue }
            guard count >= 0 else { return nil }
            guard count > 0 else { break }
            bytes += buffer[..<count]
        }
        return String(decoding: bytes, as: UTF8.self)
    }
}
