import Glibc

/// The segment that lines are appended to; ends with its value.
struct SpoolSegment: ~Copyable {
    let number: UInt64
    private let descriptor: Int32
    private let path: String
    private(set) var size = 0

    init(_ number: UInt64, in directory: SpoolDirectory) throws(SpoolError) {
        self.number = number
        self.descriptor = try directory.create(number)
        self.path = directory.file(number)
    }

    deinit {
        close(descriptor)
    }

    /// Appends the bytes durably. After a failure the segment must not be used again: which of the
    /// bytes are durable is unknown, so they may be delivered, too.
    mutating func append(_ bytes: [UInt8]) throws(SpoolError) {
        var rest = bytes[...]
        while !rest.isEmpty {
            let count = rest.withUnsafeBytes { write(descriptor, $0.baseAddress, $0.count) }
            if count < 0, errno == EINTR { continue }
            guard count > 0 else { throw undone(SpoolDirectory.failure("cannot write", path)) }
            rest = rest.dropFirst(count)
        }
        guard fdatasync(descriptor) == 0 else {
            throw undone(SpoolDirectory.failure("cannot sync", path))
        }
        size += bytes.count
    }

    /// Removes what a failed call has written, as far as that is possible.
    private func undone(_ problem: SpoolError) -> SpoolError {
        _ = ftruncate(descriptor, off_t(size))
        return problem
    }
}
