package import Versions

/// The local history after recovered changesets replace the old ones (client reset, 6.4).
package struct HistoryRewrite: Hashable, Sendable {
    /// The new changesets by the versions of the old ones; empty results of recovery are left out.
    package let recovered: [Entry]
    /// The history no longer contains this version or any below.
    package let baseVersion: ClientVersion
    package let uploadableBytes: UInt64

    package struct Entry: Hashable, Sendable {
        package let version: ClientVersion
        package let bytes: [UInt8]

        package init(version: ClientVersion, bytes: [UInt8]) {
            self.version = version
            self.bytes = bytes
        }
    }

    /// `replayed` are the results of all unsynced changesets, in order; `newest` is the realm's version.
    package init(replayed: [Entry], newest: ClientVersion) {
        recovered = replayed.filter { !$0.bytes.isEmpty }
        baseVersion =
            recovered.first.map { ClientVersion($0.version.rawValue.subtracting(clamping: 1)) }
            ?? newest
        uploadableBytes = recovered.reduce(0) { $0 + UInt64($1.bytes.count) }
    }

    /// The cursors of a realm that has everything the fresh copy has, and has uploaded nothing under
    /// its new ident.
    package static func progress(afterFreshCopy fresh: SyncProgress) -> SyncProgress {
        SyncProgress(
            latestServerVersion: fresh.latestServerVersion,
            download: DownloadCursor(
                serverVersion: fresh.download.serverVersion,
                lastIntegratedClientVersion: .zero
            ),
            upload: UploadCursor(
                clientVersion: .zero,
                lastIntegratedServerVersion: fresh.download.serverVersion
            )
        )
    }
}
