import ServerStore
import Versions

extension RecentHistory.Growth {
    static func expectedReads(
        of file: ServerFileID,
        after start: SaltedServerVersion
    ) -> ExpectedReads {
        ExpectedReads(
            file: .id(file),
            hasSchema: true,
            salts: [start.version],
            history: ExpectedReads.History(after: start.version, reader: .server)
        )
    }

    /// Nil if the file does not exist any more.
    init?(
        of id: ServerFileID,
        after start: SaltedServerVersion,
        from store: any FileReading
    ) throws(StoreError) {
        guard let file = try store.file(id) else { return nil }
        var entries: [HistoryEntry]? = []
        var sizeInBytes = 0
        try store.forEachEntry(of: id, after: start.version, readBy: .server) { entry in
            sizeInBytes += entry.changeset.count
            guard sizeInBytes <= RecentHistory.limitInBytes else {
                entries = nil
                return .stop
            }
            entries?.append(entry)
            return .next
        }
        self.init(
            generation: file.generation,
            saltOfStart: try store.salt(of: start.version, in: file),
            newest: try store.newestVersion(of: file),
            historySizeInBytes: file.historySizeInBytes,
            asymmetric: AsymmetricClasses(of: try store.schema(of: id)),
            entries: entries
        )
    }
}
