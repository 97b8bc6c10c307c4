import ServerStore
import Versions

/// Entries of a history that were read together, as one reader gets them.
struct HistoryPage: Sendable {
    let reader: FileIdent
    /// The entries begin after it.
    let start: ServerVersion
    /// The last version that was looked at; nil if the history had none after the start.
    let end: ServerVersion?
    /// Those that the reader gets.
    let entries: [HistoryEntry]

    /// Reads the rows of `HistoryRows.readingPage`; for the reader `.none`, those of `readingWholePage`.
    init(
        _ rows: StoredRows,
        after start: ServerVersion,
        readBy reader: FileIdent
    ) throws(StoreError) {
        var entries: [HistoryEntry] = []
        var end: ServerVersion?
        let isWhole = reader == .none
        for row in 0..<rows.count {
            let entry = try HistoryRows.entry(rows, row)
            let version = entry.version.version
            // Sizes that are damaged may leave a version out; the next page has it.
            if let end, version.rawValue != end.rawValue &+ 1 { break }
            end = version
            if isWhole || entry.isVisible(to: reader) { entries.append(entry) }
        }
        self.reader = reader
        self.start = start
        self.end = end
        self.entries = entries
    }

    /// The same for one of its readers.
    func read(by reader: FileIdent) -> HistoryPage {
        HistoryPage(
            reader: reader,
            start: start,
            end: end,
            entries: entries.filter { $0.isVisible(to: reader) }.map { $0.asRead(by: reader) }
        )
    }

    private init(
        reader: FileIdent,
        start: ServerVersion,
        end: ServerVersion?,
        entries: [HistoryEntry]
    ) {
        self.reader = reader
        self.start = start
        self.end = end
        self.entries = entries
    }

    /// Whether the page has the entries that follow a version.
    func begins(at version: ServerVersion, readBy reader: FileIdent) -> Bool {
        self.reader == reader && start <= version && end.map { version < $0 } ?? true
    }
}
