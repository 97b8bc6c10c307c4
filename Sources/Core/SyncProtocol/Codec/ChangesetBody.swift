import Versions

/// The body of UPLOAD and DOWNLOAD: changesets with their numbers, compressed as a whole if that
/// pays (wire protocol, 5.4 and 6.2).
struct ChangesetBody {
    /// As on the wire.
    let bytes: [UInt8]
    private let uncompressedSize: Int
    private let isCompressed: Bool

    init(_ body: [UInt8]) {
        let packed = Compression.deflated(body)
        self.bytes = packed ?? body
        self.uncompressedSize = body.count
        self.isCompressed = packed != nil
    }

    func writeHead(to writer: inout HeadWriter) {
        writer.writeField(isCompressed)
        writer.writeField(UInt64(uncompressedSize))
        writer.writeField(UInt64(isCompressed ? bytes.count : 0))
    }

    /// The three fields that describe the body.
    struct Head {
        let isCompressed: Bool
        let uncompressedSize: UInt64
        /// Meaningless without compression: some servers repeat the other size in it.
        let compressedSize: UInt64

        init(
            from reader: inout FieldReader,
            limits: Limits,
            endingWith end: FieldReader.End = .space
        ) throws(WireError) {
            isCompressed = try reader.readFlag("is compressed")
            let start = reader.offset
            uncompressedSize = try reader.readNumber("uncompressed size")
            compressedSize = try reader.readNumber("compressed size", endingWith: end)
            guard uncompressedSize <= limits.bodySizeInBytes else {
                throw WireError(
                    at: start,
                    .tooLarge(
                        field: "body",
                        announced: uncompressedSize,
                        limit: limits.bodySizeInBytes
                    )
                )
            }
        }

        /// The uncompressed body.
        func readBody(from reader: inout FieldReader) throws(WireError) -> [UInt8] {
            guard isCompressed else { return try reader.readBody(announced: uncompressedSize) }
            let start = reader.offset
            let packed = try reader.readBody(announced: compressedSize)
            guard let body = Compression.inflated(packed, size: uncompressedSize) else {
                throw WireError(at: start, .decompression)
            }
            return body
        }
    }
}

extension UploadChangeset {
    static func entries(
        of body: [UInt8],
        atMost limit: Int
    ) throws(WireError) -> [UploadChangeset] {
        var reader = FieldReader(body, part: .entry)
        var changesets: [UploadChangeset] = []
        while !reader.isAtEnd {
            guard changesets.count < limit else {
                throw WireError(at: reader.offset, .tooManyChangesets(limit: limit))
            }
            changesets.append(
                UploadChangeset(
                    cursor: UploadCursor(
                        clientVersion: ClientVersion(try reader.readNumber("client version")),
                        lastIntegratedServerVersion: ServerVersion(
                            try reader.readNumber("server version")
                        )
                    ),
                    originTimestamp: OriginTimestamp(try reader.readNumber("origin timestamp")),
                    originFileIdent: FileIdent(try reader.readNumber("origin file ident")),
                    bytes: try reader.readChangeset()
                )
            )
        }
        return changesets
    }

    static func body(of changesets: [UploadChangeset]) -> [UInt8] {
        var writer = HeadWriter(reserving: changesets.reduce(0) { $0 + $1.bytes.count + 48 })
        for changeset in changesets {
            writer.writeEntryField(changeset.cursor.clientVersion.rawValue)
            writer.writeEntryField(changeset.cursor.lastIntegratedServerVersion.rawValue)
            writer.writeEntryField(changeset.originTimestamp.rawValue)
            writer.writeEntryField(changeset.originFileIdent.rawValue)
            writer.writeEntryField(UInt64(changeset.bytes.count))
            writer.write(changeset.bytes)
        }
        return writer.bytes
    }
}

extension DownloadChangeset {
    static func entries(of body: [UInt8]) throws(WireError) -> [DownloadChangeset] {
        var reader = FieldReader(body, part: .entry)
        var changesets: [DownloadChangeset] = []
        while !reader.isAtEnd {
            changesets.append(
                DownloadChangeset(
                    cursor: DownloadCursor(
                        serverVersion: ServerVersion(try reader.readNumber("server version")),
                        lastIntegratedClientVersion: ClientVersion(
                            try reader.readNumber("client version")
                        )
                    ),
                    originTimestamp: OriginTimestamp(try reader.readNumber("origin timestamp")),
                    originFileIdent: FileIdent(try reader.readNumber("origin file ident")),
                    originalSizeInBytes: try reader.readNumber("original changeset size"),
                    bytes: try reader.readChangeset()
                )
            )
        }
        return changesets
    }

    static func body(of changesets: [DownloadChangeset]) -> [UInt8] {
        var writer = HeadWriter(reserving: changesets.reduce(0) { $0 + $1.bytes.count + 56 })
        for changeset in changesets {
            writer.writeEntryField(changeset.cursor.serverVersion.rawValue)
            writer.writeEntryField(changeset.cursor.lastIntegratedClientVersion.rawValue)
            writer.writeEntryField(changeset.originTimestamp.rawValue)
            writer.writeEntryField(changeset.originFileIdent.rawValue)
            writer.writeEntryField(changeset.originalSizeInBytes)
            writer.writeEntryField(UInt64(changeset.bytes.count))
            writer.write(changeset.bytes)
        }
        return writer.bytes
    }
}

extension FieldReader {
    /// The size of a changeset and, directly after its space, the changeset.
    fileprivate mutating func readChangeset() throws(WireError) -> [UInt8] {
        let start = offset
        let size = try readNumber("changeset size")
        guard size <= UInt64(remaining) else {
            throw WireError(at: start, .entrySize(announced: size, remaining: remaining))
        }
        return readBytes(Int(size))
    }
}
