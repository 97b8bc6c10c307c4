import PostgreSQL
import ServerStore
import Versions

/// Reads and writes histories and reciprocals in a transaction.
class HistoryTransaction: FileTransaction {
    func salt(of version: ServerVersion, in file: ServerFileID) throws(StoreError) -> Salt? {
        if let entry = buffer[file].entries.last(where: { $0.version.version == version }) {
            return entry.version.salt
        }
        if let known = buffer[file].salts[version] { return known }
        let rows = try runner.read(HistoryRows.readingSalt(of: version, in: file))
        return rows.isEmpty ? nil : Salt(try rows.number(0, 0))
    }

    /// Reads page by page, then what this transaction has appended.
    func forEachEntry(
        of file: ServerFileID,
        after version: ServerVersion,
        readBy reader: FileIdent,
        _ visit: (HistoryEntry) throws(StoreError) -> Visit
    ) throws(StoreError) {
        var position = version
        while buffer[file].storedEnd.map({ position < $0 }) ?? true {
            let page = try page(of: file, after: position, readBy: reader)
            for entry in page.entries where entry.version.version > position {
                if try visit(entry) == .stop { return }
            }
            guard let end = page.end else { break }
            position = end
        }
        for entry in buffer[file].entries
        where entry.version.version > position && entry.isVisible(to: reader) {
            if try visit(entry.asRead(by: reader)) == .stop { return }
        }
    }

    /// Reads page by page, in round trips of 1 024 versions at most.
    func forEachEntry(
        of file: ServerFileID,
        at versions: [ServerVersion],
        readBy reader: FileIdent,
        _ visit: (HistoryEntry) throws(StoreError) -> Visit
    ) throws(StoreError) {
        var rest = versions[...]
        while let first = rest.first, buffer[file].storedEnd.map({ first <= $0 }) ?? true {
            let asked = rest.prefix(Int(HistoryRows.versionsAtOnce))
            let entries = try HistoryRows.entries(
                try runner.read(HistoryRows.reading(asked, of: file, readBy: reader))
            )
            for entry in entries where entry.isVisible(to: reader) {
                if try visit(entry) == .stop { return }
            }
            // Versions of a page that is full follow in the next one; others do not exist.
            let isFull = entries.reduce(0) { $0 + $1.changeset.count } > HistoryRows.bytesAtOnce
            let end = isFull ? entries.last?.version.version : asked.last
            rest = rest.drop { version in end.map { version <= $0 } ?? true }
        }
        let wanted = Set(versions)
        for entry in buffer[file].entries
        where wanted.contains(entry.version.version) && entry.isVisible(to: reader) {
            if try visit(entry.asRead(by: reader)) == .stop { return }
        }
    }

    private func page(
        of file: ServerFileID,
        after version: ServerVersion,
        readBy reader: FileIdent
    ) throws(StoreError) -> HistoryPage {
        if let page = buffer[file].page(after: version, readBy: reader) { return page }
        let rows = try runner.read(
            HistoryRows.readingPage(of: file, after: version, readBy: reader)
        )
        let page = try HistoryPage(rows, after: version, readBy: reader)
        try buffer.change(file) { $0.note(page) }
        return page
    }

    func compensatingEntries(
        of file: ServerFileID,
        after version: ServerVersion,
        for client: FileIdent
    ) throws(StoreError) -> [HistoryEntry] {
        var entries: [HistoryEntry] = []
        var position = version
        while true {
            let page = try compensatingPage(of: file, after: position, for: client)
            entries += page
            guard page.count == HistoryRows.versionsAtOnce, let last = page.last else { break }
            position = last.version.version
        }
        return entries
            + buffer[file].entries.filter {
                $0.version.version > version && $0.recipient == client && client != .none
                    && $0.clientVersion != .zero
            }
    }

    private func compensatingPage(
        of file: ServerFileID,
        after version: ServerVersion,
        for client: FileIdent
    ) throws(StoreError) -> [HistoryEntry] {
        if let known = buffer[file].rejected[client], known.start == version,
            case .compensating(let entries) = known.content
        {
            return entries
        }
        return try HistoryRows.entries(
            try runner.read(
                HistoryRows.readingCompensating(of: file, after: version, for: client)
            )
        )
    }

    func privateSizeInBytes(
        of file: ServerFileID,
        after version: ServerVersion,
        for client: FileIdent
    ) throws(StoreError) -> UInt64 {
        let rows = try runner.read(
            HistoryRows.readingPrivateSize(of: file, after: version, for: client)
        )
        return buffer[file].entries
            .filter { $0.version.version > version && $0.recipient == client && client != .none }
            .reduce(try rows.number(0, 0)) { $0 &+ UInt64($1.changeset.count) }
    }

    func forEachChangeset(
        of file: ServerFileID,
        in snapshot: ServerVersion,
        after version: ServerVersion,
        _ visit: (ServerVersion, [UInt8]) throws(StoreError) -> Visit
    ) throws(StoreError) {
        guard snapshot == .zero else {
            return try forEachSnapshotEntry(of: file, in: snapshot, after: version) {
                entry throws(StoreError) in
                try visit(entry.version.version, entry.changeset)
            }
        }
        var position = version
        pages: while true {
            let rows = try runner.read(HistoryRows.readingChangesets(of: file, after: position))
            guard !rows.isEmpty else { break }
            for row in 0..<rows.count {
                let number = try rows.number(row, 0)
                // Sizes that are damaged may leave a version out; the next page has it.
                if row > 0, number != position.rawValue &+ 1 { continue pages }
                position = ServerVersion(number)
                if try visit(position, try rows.bytes(row, 1)) == .stop { return }
            }
        }
        for entry in buffer[file].entries where entry.version.version > position {
            if try visit(entry.version.version, entry.changeset) == .stop { return }
        }
    }

    func historySize(
        of file: ServerFile,
        after version: ServerVersion
    ) throws(StoreError) -> UInt64 {
        // Up to, but not including, the first entry after it.
        var before: UInt64?
        if buffer[file.id].storedEnd.map({ version < $0 }) ?? true {
            let rows = try runner.read(HistoryRows.readingSizeBefore(of: file.id, after: version))
            before = rows.isEmpty ? nil : UInt64(bitPattern: try rows.integer(0, 0))
        }
        if before == nil,
            let first = buffer[file.id].entries.first(where: { $0.version.version > version })
        {
            before = first.cumulativeSizeInBytes &- UInt64(first.changeset.count)
        }
        guard let before else { return 0 }
        return file.historySizeInBytes >= before ? file.historySizeInBytes - before : 0
    }

    func sizeOfOthers(
        of file: ServerFileID,
        after version: ServerVersion,
        for client: FileIdent,
        limit: UInt64
    ) throws(StoreError) -> UInt64 {
        var size: UInt64 = 0
        var position = version
        while true {
            let rows = try runner.read(
                HistoryRows.readingSizes(of: file, after: position, for: client)
            )
            for row in 0..<rows.count {
                guard size <= limit else { return size }
                position = ServerVersion(try rows.number(row, 0))
                if try rows.bool(row, 2) { size &+= try rows.number(row, 1) }
            }
            if rows.count < 8192 { break }
        }
        for entry in buffer[file].entries where entry.version.version > position {
            guard size <= limit else { return size }
            if entry.isVisible(to: client), entry.origin != client {
                size &+= UInt64(entry.changeset.count)
            }
        }
        return size
    }

    func append(_ entries: [HistoryEntry], to file: ServerFileID) throws(StoreError) {
        guard !entries.isEmpty else { return }
        try hold(file)
        try buffer.change(file) { buffer throws(StoreError) in try buffer.append(entries) }
    }

    func trimHistory(of file: ServerFileID, upTo version: ServerVersion) throws(StoreError) {
        try write(
            [
                HistoryRows.discount(of: file, upTo: version),
                ReciprocalRows.removal(in: file, upTo: version),
            ],
            to: file
        )
        try writeInPortions(TouchedObjectRows.removal(of: file, upTo: version), to: file)
        try writeInPortions(HistoryRows.removal(of: file, upTo: version), to: file)
    }

    // MARK: Reciprocals

    func reciprocals(
        for ident: FileIdent,
        in file: ServerFileID,
        after version: ServerVersion
    ) throws(StoreError) -> [ServerVersion: [UInt8]] {
        var stored: [ServerVersion: [UInt8]] = [:]
        var position: ServerVersion? = version
        while let start = position {
            let page = try reciprocalPage(for: ident, in: file, after: start)
            stored.merge(page.changesets) { _, newer in newer }
            position = page.end
        }
        return buffer[file].reciprocals[ident]?.overlaid(on: stored, after: version) ?? stored
    }

    func reciprocal(
        of version: ServerVersion,
        for ident: FileIdent,
        in file: ServerFileID
    ) throws(StoreError) -> [UInt8]? {
        let known = buffer[file].reciprocals[ident, default: ReciprocalBuffer()]
        switch known.content(of: version) {
        case .changeset(let changeset): return changeset
        case .absent: return nil
        case .unknown:
            let start = ServerVersion(version.rawValue - min(version.rawValue, 1))
            let page = try reciprocalPage(for: ident, in: file, after: start)
            try buffer.change(file) { $0.reciprocals[ident, default: .init()].note(page) }
            return page.changesets[version]
        }
    }

    private func reciprocalPage(
        for ident: FileIdent,
        in file: ServerFileID,
        after version: ServerVersion
    ) throws(StoreError) -> ReciprocalBuffer.Page {
        let step = ReciprocalRows.readingPage(for: ident, in: file, after: version)
        return try ReciprocalBuffer.Page(try runner.read(step), after: version)
    }

    func putReciprocal(
        _ changeset: [UInt8],
        of version: ServerVersion,
        for ident: FileIdent,
        in file: ServerFileID
    ) throws(StoreError) {
        try hold(file)
        try buffer.change(file) {
            $0.reciprocals[ident, default: .init()].write(changeset, of: version)
        }
    }

    func removeReciprocals(
        for ident: FileIdent,
        in file: ServerFileID,
        upTo version: ServerVersion
    ) throws(StoreError) {
        try hold(file)
        try buffer.change(file) { $0.reciprocals[ident, default: .init()].remove(upTo: version) }
    }
}
