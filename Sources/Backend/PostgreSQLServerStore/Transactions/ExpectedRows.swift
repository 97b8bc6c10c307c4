import PostgreSQL
import Schemas
import Scopes
import ServerStore
import Versions

/// Expected reads as statements of a transaction's first pipeline, and what becomes of their rows.
struct ExpectedRows: Sendable {
    private typealias Note =
        @Sendable (PostgreSQLTransaction, StoredRows) throws(StoreError) -> Void

    private(set) var steps: [Step] = []
    private var notes: [Note] = []
    /// The parts of a history that bodies which share a transaction read: most of them are the same.
    private var histories: [ServerFileID: [ExpectedReads.History]] = [:]

    /// Adds the statements for what several requests have in common. Called once, after the last request.
    mutating func finish() {
        for (file, histories) in histories {
            if let shared = SharedHistory(histories) {
                add(shared, of: file)
            } else {
                for history in histories { add(history, of: file) }
            }
        }
        histories = [:]
    }

    /// Remembers the rows, in the order of the steps.
    func note(_ rows: ArraySlice<Rows>, in transaction: PostgreSQLTransaction) throws(StoreError) {
        guard rows.count == notes.count else {
            throw .damaged("an expected statement has no result")
        }
        for (note, rows) in zip(notes, rows) { try note(transaction, StoredRows(rows)) }
    }

    private mutating func add(_ step: Step, _ note: @escaping Note) {
        steps.append(step)
        notes.append(note)
    }

    // MARK: Files

    /// Locks a file against all other writers; what follows sees all that they committed.
    mutating func lock(_ file: ServerFileID) {
        add(ServerFileRows.locking(file)) { transaction, rows throws(StoreError) in
            let row = try ServerFileRows.file(rows)
            try transaction.buffer.change(file) {
                $0.note(row, isLocked: true, transaction.versionSalts)
            }
        }
    }

    /// Locks the file of a partition, if there is one.
    mutating func lock(_ partition: Partition, of app: AppID) {
        add(ServerFileRows.locking(partition, of: app)) { transaction, rows throws(StoreError) in
            guard let row = try ServerFileRows.file(rows) else { return }
            try transaction.buffer.change(row.file.id) {
                $0.note(row, isLocked: true, transaction.versionSalts)
            }
        }
    }

    private mutating func read(_ file: ExpectedReads.File) {
        switch file {
        case .id(let id):
            add(ServerFileRows.reading(id)) { transaction, rows throws(StoreError) in
                let row = try ServerFileRows.file(rows)
                try transaction.buffer.change(id) {
                    $0.note(row, isLocked: false, transaction.versionSalts)
                }
            }
            add(HistoryRows.readingNewestSalt(in: id)) { transaction, rows throws(StoreError) in
                guard !rows.isEmpty else { return }
                let version = ServerVersion(try rows.number(0, 0))
                let salt = Salt(try rows.number(0, 1))
                try transaction.buffer.change(id) { $0.note(salt, of: version) }
            }
        case .partition(let app, let partition):
            add(ServerFileRows.reading(partition, of: app)) {
                transaction,
                rows throws(StoreError) in
                guard let row = try ServerFileRows.file(rows) else { return }
                try transaction.buffer.change(row.file.id) {
                    $0.note(row, isLocked: false, transaction.versionSalts)
                }
            }
        }
    }

    // MARK: Requests

    /// The reads of a request that only reads.
    mutating func add(_ request: ReadRequest, _ schemas: SharedSchemas) {
        if let file = request.reads.file { read(file) }
        if let session = request.session { add(session) }
        add(request.reads, schemas)
    }

    /// The reads of a request that writes; its file is locked already.
    mutating func add(_ request: WriteRequest, _ schemas: SharedSchemas) {
        if let session = request.session { add(session) }
        add(request.reads, schemas)
    }

    private mutating func add(_ session: SessionGuard) {
        add(session.step) { transaction, rows throws(StoreError) in
            let stored: SessionGuard.Stored?
            do throws(PostgreSQLError) {
                stored = try SessionGuard.Stored(rows.rows)
            } catch {
                throw .damaged(error.message)
            }
            transaction.sessions.updateValue(stored, forKey: session)
        }
    }

    private mutating func add(_ reads: ExpectedReads, _ schemas: SharedSchemas) {
        switch reads.file {
        case .id(let file): add(reads, of: file, schemas)
        case .partition(let app, let partition) where reads.hasSchema:
            add(SchemaRows.reading(of: partition, in: app)) {
                transaction,
                rows throws(StoreError) in
                guard !rows.isEmpty else { return }
                let file = ServerFileID(try rows.integer(0, 0))
                let schema = try SchemaRows.decode(try rows.optionalBytes(0, 1), of: file)
                try transaction.buffer.change(file) { $0.note(schema) }
            }
        case .partition, nil: break
        }
        if let user = reads.usage { addUsage(of: user, reads.file) }
        if let account = reads.account { add(account) }
    }

    private mutating func add(
        _ reads: ExpectedReads,
        of file: ServerFileID,
        _ schemas: SharedSchemas
    ) {
        if let ident = reads.client {
            add(ClientFileRows.reading(ident, in: file)) { transaction, rows throws(StoreError) in
                let client = try ClientFileRows.clients(rows).first
                try transaction.buffer.change(file) { $0.note(client, ident) }
            }
        }
        if let ident = reads.client, let rejected = reads.rejected {
            add(rejected, of: ident, in: file)
        }
        if reads.hasSchema {
            let cached = schemas[file]
            add(SchemaRows.reading(of: file, unless: cached?.version ?? -1)) {
                transaction,
                rows throws(StoreError) in
                let schema = try schemas.schema(of: file, rows, unless: cached)
                try transaction.buffer.change(file) { $0.note(schema) }
            }
        }
        for version in reads.salts {
            add(HistoryRows.readingSalt(of: version, in: file)) {
                transaction,
                rows throws(StoreError) in
                let salt = rows.isEmpty ? nil : Salt(try rows.number(0, 0))
                try transaction.buffer.change(file) { $0.note(salt, of: version) }
            }
        }
        if let history = reads.history { noteHistory(history, of: file) }
        if !reads.documents.isEmpty { add(reads.documents.map(ObjectRow.init), of: file) }
    }

    private mutating func add(
        _ rejected: ExpectedReads.Rejected,
        of client: FileIdent,
        in file: ServerFileID
    ) {
        let start = rejected.after
        if rejected.isFlexible {
            add(ClientViewRows.readingRejections(of: client, in: file, after: start)) {
                transaction,
                rows throws(StoreError) in
                let recorded = try ClientViewRows.rejections(rows)
                try transaction.buffer.change(file) {
                    $0.note(RejectedRows(start: start, content: .recorded(recorded)), of: client)
                }
            }
        } else {
            add(HistoryRows.readingCompensating(of: file, after: start, for: client)) {
                transaction,
                rows throws(StoreError) in
                let entries = try HistoryRows.entries(rows)
                try transaction.buffer.change(file) {
                    $0.note(RejectedRows(start: start, content: .compensating(entries)), of: client)
                }
            }
        }
    }

    private mutating func add(_ history: ExpectedReads.History, of file: ServerFileID) {
        let (start, reader) = (history.after, history.reader)
        add(HistoryRows.readingPage(of: file, after: start, readBy: reader)) {
            transaction,
            rows throws(StoreError) in
            let page = try HistoryPage(rows, after: start, readBy: reader)
            try transaction.buffer.change(file) { $0.note(page) }
        }
    }

    private mutating func add(_ shared: SharedHistory, of file: ServerFileID) {
        add(HistoryRows.readingWholePage(of: file, after: shared.start)) {
            transaction,
            rows throws(StoreError) in
            let page = try HistoryPage(rows, after: shared.start, readBy: .none)
            try transaction.buffer.change(file) { buffer in
                for reader in shared.readers { buffer.note(page.read(by: reader)) }
            }
        }
    }

    private mutating func noteHistory(_ history: ExpectedReads.History, of file: ServerFileID) {
        histories[file, default: []].append(history)
        guard history.withReciprocals else { return }
        let (start, reader) = (history.after, history.reader)
        add(ReciprocalRows.readingPage(for: reader, in: file, after: start)) {
            transaction,
            rows throws(StoreError) in
            let page = try ReciprocalBuffer.Page(rows, after: start)
            try transaction.buffer.change(file) {
                $0.reciprocals[reader, default: .init()].note(page)
            }
        }
    }

    private mutating func add(_ objects: [ObjectRow], of file: ServerFileID) {
        add(DocumentBuffer.reading(objects, in: file.rawValue)) {
            transaction,
            rows throws(StoreError) in
            try transaction.buffer.change(file) { buffer throws(StoreError) in
                try buffer.documents.note(rows, of: objects)
            }
        }
    }

    private mutating func addUsage(of user: UserID, _ file: ExpectedReads.File?) {
        add(ClientFileRows.readingUsage(of: user, in: file)) {
            transaction,
            rows throws(StoreError) in
            transaction.usages[user] = try ClientFileRows.expectedUsage(rows)
        }
        add(ClientFileRows.readingHistorySize(of: user)) { transaction, rows throws(StoreError) in
            transaction.historySizes[user] = try rows.integer(0, 0)
        }
    }

    private mutating func add(_ account: ExpectedReads.Account) {
        let app = account.app
        if let id = account.user {
            add(UserRows.reading(id, of: app)) { transaction, rows throws(StoreError) in
                transaction.known.note(try UserRows.users(rows).first, id, app)
            }
        }
        if let name = account.name {
            add(PasswordRows.reading(name, of: app)) { transaction, rows throws(StoreError) in
                transaction.known.note(try PasswordRows.account(rows), name, app)
            }
        }
        if let digest = account.session {
            add(LoginSessionRows.reading(digest, of: app)) { transaction, rows throws(StoreError) in
                transaction.known.note(try LoginSessionRows.session(digest, rows), digest, app)
            }
        }
    }
}
