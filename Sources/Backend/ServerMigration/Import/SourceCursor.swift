import CZlib
import FoundationEssentials
import Glibc
package import Migration

/// Reads one source file from front to end, piece by piece, and unpacks it if it is compressed.
package final class SourceCursor {
    private let file: SourceFile
    private let descriptor: Int32
    private var unpacker: Gunzip?
    private var reader: SourceReader?
    /// Bytes before the form is known.
    private var first: [UInt8] = []
    private var piece = [UInt8](repeating: 0, count: pieceSizeInBytes)
    private var isFirst = true
    private var hasEnded = false
    /// Bytes of the file that were read, before unpacking.
    package private(set) var offset: UInt64 = 0

    private static let pieceSizeInBytes = 256 << 10
    private static let signatureSizeInBytes = 64

    package init(_ file: SourceFile) throws(MigrationFailure) {
        self.file = file
        self.descriptor =
            file.path == "-" ? dup(STDIN_FILENO) : open(file.path, O_RDONLY | O_CLOEXEC)
        guard descriptor >= 0 else {
            throw Self.failure(file, "cannot be read: \(String(cString: strerror(errno)))")
        }
    }

    deinit {
        close(descriptor)
    }

    /// The next parts of the source, perhaps none; nil at its end.
    package func next() throws(MigrationFailure) -> [SourceEvent]? {
        guard !hasEnded else { return nil }
        var events: [SourceEvent] = []
        let count = try readPiece()
        if count == 0 {
            try finish(&events)
            hasEnded = true
            return events
        }
        offset += UInt64(count)
        let bytes = count == piece.count ? piece : Array(piece[..<count])
        if isFirst, bytes.starts(with: [0x1f, 0x8b]) { unpacker = Gunzip() }
        isFirst = false
        guard let unpacker else {
            try take(bytes, &events)
            return events
        }
        var failure: MigrationFailure?
        let isGood = unpacker.unpack(bytes) { unpacked in
            do throws(MigrationFailure) {
                try take(unpacked, &events)
                return !hasEnded
            } catch {
                failure = error
                return false
            }
        }
        if let failure { throw failure }
        if !isGood, !hasEnded {
            events.append(.damaged(problem: "the compressed data is damaged", offset: offset))
            hasEnded = true
        }
        return events
    }

    private func readPiece() throws(MigrationFailure) -> Int {
        while true {
            let count = piece.withUnsafeMutableBytes { read(descriptor, $0.baseAddress, $0.count) }
            if count >= 0 { return count }
            guard errno == EINTR else {
                throw Self.failure(file, "cannot be read: \(String(cString: strerror(errno)))")
            }
        }
    }

    private func take(
        _ bytes: [UInt8],
        _ events: inout [SourceEvent]
    ) throws(MigrationFailure) {
        guard reader == nil else {
            reader?.read(bytes) { events.append($0) }
            if reader?.hasEnded == true { hasEnded = true }
            return
        }
        first += bytes
        guard first.count >= Self.signatureSizeInBytes else { return }
        try begin(&events)
    }

    /// The form is known from the first bytes.
    private func begin(_ events: inout [SourceEvent]) throws(MigrationFailure) {
        guard !first.isEmpty else { throw Self.failure(file, "is empty") }
        guard let form = SourceForm(firstBytes: first, isNamedBSON: file.isNamedBSON) else {
            throw Self.failure(file, "has none of the known forms")
        }
        var made = SourceReader(form, of: file.collection)
        made.read(first) { events.append($0) }
        first = []
        if made.hasEnded { hasEnded = true }
        reader = made
    }

    private func finish(_ events: inout [SourceEvent]) throws(MigrationFailure) {
        if reader == nil {
            if first.isEmpty, file.mayBeEmpty { return }
            try begin(&events)
        }
        if let unpacker, !unpacker.isComplete {
            events.append(.damaged(problem: "the compressed data ends early", offset: offset))
        } else {
            reader?.finish { events.append($0) }
        }
    }

    private static func failure(_ file: SourceFile, _ problem: String) -> MigrationFailure {
        MigrationFailure(
            "import.bad_source",
            "\(file.path) \(problem)",
            remedy: "name Extended JSON, a BSON file, the directory or the archive of a dump"
        )
    }
}
