import Glibc

/// A program's standard input, as a file.
///
/// Not a pipe: a program that ends before it has read everything, because of an error or `.quit`, would
/// leave a writer behind, which swift-subprocess 1.0.2 answers with a fatal error on a busy machine.
package enum StandardInput {
    /// A descriptor at the beginning of the text. The caller closes it; the file has no
    /// name any more.
    package static func descriptor(reading text: String) throws -> Int32 {
        var path = Array("/tmp/input-XXXXXX".utf8CString)
        let descriptor = mkstemp(&path)
        guard descriptor >= 0 else { throw Failure(step: "mkstemp", code: errno) }
        _ = fcntl(descriptor, F_SETFD, FD_CLOEXEC)
        unlink(path)
        var rest = Array(text.utf8)[...]
        while !rest.isEmpty {
            let count = rest.withUnsafeBytes { write(descriptor, $0.baseAddress, $0.count) }
            guard count > 0 else { throw Failure(step: "write", code: errno) }
            rest = rest.dropFirst(count)
        }
        guard lseek(descriptor, 0, SEEK_SET) == 0 else { throw Failure(step: "lseek", code: errno) }
        return descriptor
    }

    package struct Failure: Error {
        package let step: String
        package let code: Int32
    }
}
