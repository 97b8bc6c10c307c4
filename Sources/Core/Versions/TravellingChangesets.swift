/// A changeset on its way from a client to the server: one entry of an UPLOAD body
/// (wire protocol, 5.4).
package struct UploadChangeset: Hashable, Sendable {
    /// The version that the changeset made, and the server version integrated before it.
    package let cursor: UploadCursor
    package let originTimestamp: OriginTimestamp
    /// 0 from an ordinary client: the server replaces it by the sender's ident.
    package let originFileIdent: FileIdent
    package let bytes: [UInt8]

    package init(
        cursor: UploadCursor,
        originTimestamp: OriginTimestamp,
        originFileIdent: FileIdent,
        bytes: [UInt8]
    ) {
        self.cursor = cursor
        self.originTimestamp = originTimestamp
        self.originFileIdent = originFileIdent
        self.bytes = bytes
    }
}

/// A changeset on its way from the server to a client: one entry of a DOWNLOAD body
/// (wire protocol, 6.2).
package struct DownloadChangeset: Hashable, Sendable {
    /// The server version that the changeset made, and the client's own version integrated before it.
    package let cursor: DownloadCursor
    package let originTimestamp: OriginTimestamp
    package let originFileIdent: FileIdent
    /// Size before any compaction of history; for progress only.
    package let originalSizeInBytes: UInt64
    package let bytes: [UInt8]

    package init(
        cursor: DownloadCursor,
        originTimestamp: OriginTimestamp,
        originFileIdent: FileIdent,
        originalSizeInBytes: UInt64,
        bytes: [UInt8]
    ) {
        self.cursor = cursor
        self.originTimestamp = originTimestamp
        self.originFileIdent = originFileIdent
        self.originalSizeInBytes = originalSizeInBytes
        self.bytes = bytes
    }
}
