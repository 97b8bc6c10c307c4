import ServerStore
import Versions

extension HistoryEntry {
    func isVisible(to reader: FileIdent) -> Bool {
        recipient == nil || recipient == reader
    }

    /// A client does not get the bytes of its own entries.
    func asRead(by reader: FileIdent) -> HistoryEntry {
        guard origin == reader else { return self }
        return HistoryEntry(
            version: version,
            origin: origin,
            clientVersion: clientVersion,
            timestamp: timestamp,
            changeset: [],
            cumulativeSizeInBytes: cumulativeSizeInBytes,
            recipient: recipient
        )
    }
}
