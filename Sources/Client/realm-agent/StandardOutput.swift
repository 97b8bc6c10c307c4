import Control
import Glibc

/// Unbuffered lines: each is written at once, for programs that follow the output.
enum StandardOutput {
    static func print(_ line: String) {
        Swift.print(line)
        fflush(nil)
    }

    /// Writes a file of any size, piece by piece.
    static func write(contentsOf path: String) throws(ControlError) {
        let descriptor = open(path, O_RDONLY | O_CLOEXEC)
        guard descriptor >= 0 else { throw failure("\(path) cannot be read") }
        defer { close(descriptor) }
        var buffer = [UInt8](repeating: 0, count: 64 * 1024)
        while true {
            let count = read(descriptor, &buffer, buffer.count)
            if count < 0, errno == EINTR { continue }
            guard count >= 0 else { throw failure("\(path) cannot be read") }
            guard count > 0 else { return }
            try write(buffer[..<count])
        }
    }

    private static func write(_ bytes: ArraySlice<UInt8>) throws(ControlError) {
        var rest = bytes
        while !rest.isEmpty {
            let count = rest.withUnsafeBytes { bytes in
                Glibc.write(STDOUT_FILENO, bytes.baseAddress, bytes.count)
            }
            if count < 0, errno == EINTR { continue }
            guard count > 0 else { throw failure("standard output cannot be written") }
            rest = rest.dropFirst(count)
        }
    }

    private static func failure(_ problem: String) -> ControlError {
        ControlError(
            code: "realm.io_error",
            message: "\(problem): \(String(cString: strerror(errno)).lowercased())",
            remedy: "check the disk, and the program that reads the output"
        )
    }
}
