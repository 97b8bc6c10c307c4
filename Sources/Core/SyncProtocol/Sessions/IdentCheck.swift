package import Versions

/// The checks of a server on an IDENT of partition-based sync, in this order (wire protocol, 12.5).
///
/// Everything is read in one snapshot. Whether the same file is bound elsewhere is not checked
/// here.
package struct IdentCheck: Sendable {
    package let currentVersion: ServerVersion
    /// Nil if the ident was never assigned in this server file.
    package let file: KnownFile?
    /// The stored salt of the client's latest server version; nil if there is none.
    package let saltOfLatestVersion: Salt?

    package init(
        currentVersion: ServerVersion,
        file: KnownFile?,
        saltOfLatestVersion: Salt?
    ) {
        self.currentVersion = currentVersion
        self.file = file
        self.saltOfLatestVersion = saltOfLatestVersion
    }

    /// The server's record of a client file.
    package struct KnownFile: Hashable, Sendable {
        package let salt: Salt
        /// Sync was terminated since the ident was assigned.
        package let isOfOlderGeneration: Bool
        package let belongsToUser: Bool
        package let isExpired: Bool
        /// The integrated part of the client's history; the second half is also the base of the
        /// history kept for it.
        package let upload: UploadCursor

        package init(
            salt: Salt,
            isOfOlderGeneration: Bool,
            belongsToUser: Bool,
            isExpired: Bool,
            upload: UploadCursor
        ) {
            self.salt = salt
            self.isOfOlderGeneration = isOfOlderGeneration
            self.belongsToUser = belongsToUser
            self.isExpired = isExpired
            self.upload = upload
        }
    }

    package func verify(_ ident: ClientMessage.Ident) throws(SessionFault) {
        let scan = ident.download
        let latest = ident.latestServerVersion
        guard file?.isOfOlderGeneration != true else { throw .badClientFileIdent }
        // Before the ident itself: a server that lost all its data responds with this code.
        guard latest.version <= currentVersion else { throw .badServerVersion }
        guard let file, ident.file.ident.rawValue > FileIdent.server.rawValue else {
            throw .badClientFileIdent
        }
        guard file.belongsToUser else { throw .userMismatch }
        guard file.salt != .none, file.salt == ident.file.salt else { throw .divergingHistories }
        guard scan.serverVersion >= file.upload.lastIntegratedServerVersion else {
            throw .badServerVersion
        }
        guard !file.isExpired else { throw .clientFileExpired }
        guard scan.serverVersion <= currentVersion else { throw .badServerVersion }
        guard scan.lastIntegratedClientVersion <= file.upload.clientVersion else {
            throw .badClientVersion
        }
        guard scan.serverVersion <= latest.version else { throw .badServerVersion }
        let salt = latest.version == .zero ? Salt.none : saltOfLatestVersion
        guard latest.salt == salt else { throw .divergingHistories }
    }
}
