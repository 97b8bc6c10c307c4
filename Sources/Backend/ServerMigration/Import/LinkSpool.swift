import Changesets
import Glibc
import ServerStore

/// The links of loaded objects, on disk until all objects are there.
final class LinkSpool {
    struct Link: Hashable {
        let file: ServerFileID
        let target: ObjectReference
        /// The class that links.
        let owner: Int
    }

    private let descriptor: Int32
    private var buffer: [UInt8] = []
    private var classes: [Text] = []
    private var classNumbers: [Text: UInt16] = [:]
    private(set) var count = 0

    private static let bufferSizeInBytes = 1 << 20

    init() throws(MigrationFailure) {
        self.descriptor = try TemporaryFile.open()
    }

    deinit {
        close(descriptor)
    }

    /// A record: file, class and owner as numbers, and the stored key with its length.
    func append(_ link: Link) throws(MigrationFailure) {
        let name = link.target.className
        let number: UInt16
        if let known = classNumbers[name] {
            number = known
        } else {
            number = UInt16(truncatingIfNeeded: classes.count)
            classNumbers[name] = number
            classes.append(name)
        }
        let key = StoredKey.encode(link.target.key)
        append(UInt64(bitPattern: link.file.rawValue))
        append(UInt64(number))
        append(UInt64(link.owner))
        append(UInt64(key.count))
        buffer += key
        count += 1
        if buffer.count > Self.bufferSizeInBytes { try flush() }
    }

    private func append(_ number: UInt64) {
        withUnsafeBytes(of: number.littleEndian) { buffer.append(contentsOf: $0) }
    }

    private func flush() throws(MigrationFailure) {
        var position = 0
        while position < buffer.count {
            let written = buffer.withUnsafeBytes {
                write(descriptor, $0.baseAddress.map { $0 + position }, buffer.count - position)
            }
            guard written > 0 else { throw TemporaryFile.failure }
            position += written
        }
        buffer.removeAll(keepingCapacity: true)
    }

    /// Visits all links in order, some at a time.
    func forEachGroup(
        of size: Int,
        _ visit: ([Link]) async throws -> Void
    ) async throws {
        try flush()
        lseek(descriptor, 0, SEEK_SET)
        var bytes: [UInt8] = []
        var position = 0
        var links: [Link] = []
        var piece = [UInt8](repeating: 0, count: Self.bufferSizeInBytes)
        while true {
            let count = piece.withUnsafeMutableBytes { read(descriptor, $0.baseAddress, $0.count) }
            guard count > 0 else { break }
            bytes.removeSubrange(..<position)
            position = 0
            bytes += piece[..<count]
            while let (link, length) = link(in: bytes, at: position) {
                position += length
                links.append(link)
                if links.count == size {
                    try await visit(links)
                    links = []
                }
            }
        }
        if !links.isEmpty { try await visit(links) }
    }

    private func link(in bytes: [UInt8], at start: Int) -> (Link, length: Int)? {
        guard bytes.count - start >= 32 else { return nil }
        func number(_ index: Int) -> UInt64 {
            (0..<8).reduce(0) { $0 | UInt64(bytes[start + 8 * index + $1]) << UInt64(8 * $1) }
        }
        let length = Int(clamping: number(3))
        guard bytes.count - start - 32 >= length,
            let key = StoredKey.decode(Array(bytes[(start + 32)..<(start + 32 + length)]))
        else { return nil }
        let link = Link(
            file: ServerFileID(Int64(bitPattern: number(0))),
            target: ObjectReference(className: classes[Int(number(1))], key: key),
            owner: Int(number(2))
        )
        return (link, 32 + length)
    }
}
