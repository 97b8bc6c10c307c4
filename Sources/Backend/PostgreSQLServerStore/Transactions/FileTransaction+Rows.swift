import Logging
import PostgreSQL
import Scopes
import ServerStore
import Versions

extension FileTransaction {
    /// Locks the row of a file that is to be written, and reads it.
    func hold(_ file: ServerFileID) throws(StoreError) {
        guard !buffer[file].isLocked else { return }
        let row = try ServerFileRows.file(try runner.read(ServerFileRows.locking(file)))
        try buffer.change(file) { $0.note(row, isLocked: true, versionSalts) }
    }

    /// A transaction that writes locks what it reads: its writes build on that.
    func file(_ id: ServerFileID) throws(StoreError) -> ServerFile? {
        switch access {
        case .writing: try hold(id)
        case .reading:
            if case .unknown = buffer[id].row {
                let row = try ServerFileRows.file(try runner.read(ServerFileRows.reading(id)))
                try buffer.change(id) { $0.note(row, isLocked: false, versionSalts) }
            }
        }
        return buffer[id].known?.file
    }

    func file(of app: AppID, _ partition: Partition) throws(StoreError) -> ServerFile? {
        if let known = buffer.files.values.first(where: { buffer in
            buffer.known.map { $0.file.app == app && $0.file.partition == partition } ?? false
        }) {
            return known.known?.file
        }
        let isWriting = access == .writing
        let step =
            isWriting
            ? ServerFileRows.locking(partition, of: app)
            : ServerFileRows.reading(partition, of: app)
        guard let row = try ServerFileRows.file(try runner.read(step)) else { return nil }
        try buffer.change(row.file.id) { $0.note(row, isLocked: isWriting, versionSalts) }
        return buffer[row.file.id].known?.file
    }

    /// A row without a readable name is left out and logged: it must not hide the others.
    func files(of app: AppID) throws(StoreError) -> [ServerFile] {
        let isWriting = access == .writing
        let rows = try runner.read(
            isWriting ? ServerFileRows.lockingAll(of: app) : ServerFileRows.readingAll(of: app)
        )
        var files: [ServerFile] = []
        for index in 0..<rows.count {
            guard var row = try ServerFileRows.file(rows, index) else {
                let (number, name) = (try rows.integer(index, 0), try rows.string(index, 2))
                logger.error(
                    "a realm was skipped",
                    metadata: [
                        "code": "store.unusable", "app": "\(app)", "file": "\(number)",
                        "partition": "\(name.prefix(64))",
                        "reason": "its partition cannot be read",
                    ]
                )
                continue
            }
            let id = row.file.id
            if isWriting { try buffer.change(id) { $0.note(row, isLocked: true, versionSalts) } }
            _ = row.catchUp(versionSalts)
            files.append(buffer[id].known?.file ?? row.file)
        }
        return files
    }

    func makeFile(of app: AppID, _ partition: Partition) throws(StoreError) -> ServerFile {
        if let file = try file(of: app, partition) { return file }
        try flush()
        let rows = try runner.run([
            ServerFileRows.insertion(of: partition, in: app),
            ServerFileRows.locking(partition, of: app),
        ])
        guard let last = rows.last, let row = try ServerFileRows.file(last) else {
            throw StoreError(.locked, "a new server file was removed at once; try again")
        }
        try buffer.change(row.file.id) { $0.note(row, isLocked: true, versionSalts) }
        return buffer[row.file.id].known?.file ?? row.file
    }

    func update(_ file: ServerFile) throws(StoreError) {
        try hold(file.id)
        try buffer.change(file.id) { buffer throws(StoreError) in try buffer.update(file) }
    }

    func takeFileIdent(in file: ServerFileID) throws(StoreError) -> FileIdent {
        try hold(file)
        return try buffer.change(file) { buffer throws(StoreError) in try buffer.takeIdent() }
    }

    // MARK: Client files

    func clientFile(
        _ ident: FileIdent,
        in file: ServerFileID
    ) throws(StoreError) -> ClientFile? {
        if let known = buffer[file].clients[ident] { return known }
        let rows = try runner.read(ClientFileRows.reading(ident, in: file))
        let client = try ClientFileRows.clients(rows).first
        try buffer.change(file) { $0.note(client, ident) }
        return client
    }

    func clientFiles(in file: ServerFileID) throws(StoreError) -> [ClientFile] {
        let rows = try runner.read(ClientFileRows.readingAll(in: file))
        var clients = try ClientFileRows.clients(rows)
        let changed = buffer[file].changedClients
        guard !changed.isEmpty else { return clients }
        clients.removeAll { changed.contains($0.ident) }
        clients += buffer[file].clients.compactMap { ident, client in
            changed.contains(ident) ? client : nil
        }
        return clients.sorted { $0.ident.rawValue < $1.ident.rawValue }
    }

    func put(_ client: ClientFile, in file: ServerFileID) throws(StoreError) {
        try StorableName.check(client.owner.rawValue)
        try hold(file)
        try buffer.change(file) { $0.put(client) }
    }

    func removeClientFile(_ ident: FileIdent, in file: ServerFileID) throws(StoreError) {
        try write(
            [
                ClientFileRows.removal(of: ident, in: file),
                ReciprocalRows.removal(for: ident, in: file),
            ] + ClientViewRows.removal(of: ident, in: file),
            to: file
        )
    }

    func unidentifiedClientFiles(
        of app: AppID,
        seenBefore time: Int64,
        limit: Int
    ) throws(StoreError) -> [ClientFileID] {
        try flushIfWriting()
        let rows = try runner.read(
            ClientFileRows.readingUnidentified(of: app, seenBefore: time, limit: limit)
        )
        return try rows.map { row throws(StoreError) in
            ClientFileID(
                file: ServerFileID(try rows.integer(row, 0)),
                ident: FileIdent(try rows.number(row, 1))
            )
        }
    }

    // MARK: Usage

    func usage(of user: UserID, in file: ServerFileID?) throws(StoreError) -> UserUsage {
        if buffer.files.values.contains(where: { !$0.changedClients.isEmpty }) { try flush() }
        if let known = usages[user], file == nil || known.file == file { return known.usage }
        let step = ClientFileRows.readingUsage(of: user, in: file.map { .id($0) })
        return try ClientFileRows.expectedUsage(try runner.read(step)).usage
    }

    func historySize(of user: UserID) throws(StoreError) -> Int64 {
        // Uploads that share a transaction count, too.
        var buffered = Int64(0)
        for file in buffer.files.values {
            for (ident, bytes) in file.uploadedBytes
            where try clientFile(ident, in: file.id)?.owner == user {
                buffered &+= bytes
            }
        }
        if let known = historySizes[user] { return known &+ buffered }
        let sent = try runner.read(ClientFileRows.readingHistorySize(of: user)).integer(0, 0)
        return sent &+ buffered
    }

    func emptyFiles(
        of app: AppID,
        seenBefore time: Int64?,
        after file: ServerFileID?,
        limit: Int
    ) throws(StoreError) -> [ServerFileID] {
        try flushIfWriting()
        let rows = try runner.read(
            EmptyFileRows.reading(of: app, seenBefore: time, after: file, limit: limit)
        )
        return try rows.map { row throws(StoreError) in ServerFileID(try rows.integer(row, 0)) }
    }

    /// Sends the writes before a read of several files or of whole tables.
    func flushIfWriting() throws(StoreError) {
        if access == .writing { try flush() }
    }
}
