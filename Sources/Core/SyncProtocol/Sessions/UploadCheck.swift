package import Versions

/// The checks of a server on every UPLOAD of one session, and the selection of its new part (wire
/// protocol, 12.6; sync history, 14).
package struct UploadCheck: Sendable {
    /// Of the previous UPLOAD in this session.
    private var progress = UploadCursor.zero
    /// The cursor integrated before this session.
    private let threshold: UploadCursor
    private var lockedServerVersion: ServerVersion

    package init(threshold: UploadCursor, lockedServerVersion: ServerVersion) {
        self.threshold = threshold
        self.lockedServerVersion = lockedServerVersion
    }

    /// An UPLOAD to integrate, without changesets that were sent before.
    package struct Admitted: Hashable, Sendable {
        package let changesets: [UploadChangeset]
        /// The file's new upload cursor.
        package let progress: UploadCursor
        package let lockedServerVersion: ServerVersion

        package init(
            changesets: [UploadChangeset],
            progress: UploadCursor,
            lockedServerVersion: ServerVersion
        ) {
            self.changesets = changesets
            self.progress = progress
            self.lockedServerVersion = lockedServerVersion
        }
    }

    /// Nil if there is nothing to do.
    ///
    /// - Parameter sent: the server version up to which the session has sent downloads.
    package mutating func admit(
        _ upload: ClientMessage.Upload,
        sent: ServerVersion
    ) throws(SessionFault) -> Admitted? {
        try verifyHeader(of: upload, sent: sent)
        try verifyChangesets(of: upload)
        let risesLock = upload.lockedServerVersion > lockedServerVersion
        progress = upload.progress
        lockedServerVersion = upload.lockedServerVersion

        let isNew = upload.progress.clientVersion > threshold.clientVersion
        guard isNew || risesLock else { return nil }
        return Admitted(
            // The rest was integrated in an earlier session, whose acknowledgement was lost.
            changesets: upload.changesets.filter {
                $0.cursor.clientVersion > threshold.clientVersion
            },
            progress: isNew ? upload.progress : threshold,
            lockedServerVersion: upload.lockedServerVersion
        )
    }

    private func verifyHeader(
        of upload: ClientMessage.Upload,
        sent: ServerVersion
    ) throws(SessionFault) {
        let new = upload.progress
        guard new.clientVersion >= progress.clientVersion else { throw .badClientVersion }
        guard new.lastIntegratedServerVersion <= sent,
            new.isConsistent,
            new.isMutuallyConsistent(with: threshold),
            new.isMutuallyConsistent(with: progress),
            upload.lockedServerVersion >= lockedServerVersion,
            upload.lockedServerVersion <= sent
        else { throw .badServerVersion }
    }

    private func verifyChangesets(of upload: ClientMessage.Upload) throws(SessionFault) {
        var last = progress
        for changeset in upload.changesets {
            let cursor = changeset.cursor
            guard cursor.clientVersion > last.clientVersion else { throw .badClientVersion }
            guard cursor.isConsistent,
                cursor.isMutuallyConsistent(with: last),
                cursor.isMutuallyConsistent(with: threshold)
            else { throw .badServerVersion }
            last = cursor
        }
        guard last.clientVersion <= upload.progress.clientVersion else { throw .badClientVersion }
        guard last.isMutuallyConsistent(with: upload.progress) else { throw .badServerVersion }
        guard upload.changesets.allSatisfy({ $0.originFileIdent == .none }) else {
            throw .badOriginFileIdent
        }
    }
}
