import PostgreSQL
import Schemas
import ServerStore
import Versions

/// The rows of one server file that a transaction has read or will write (server on PostgreSQL, 2).
///
/// Reads see the writes. All of them are sent together, at the end of the transaction or before a
/// statement that cannot take them into account.
struct FileBuffer: Sendable {
    enum Row: Sendable {
        case unknown
        case absent
        case present(FileRow)
    }

    let id: ServerFileID
    private(set) var row = Row.unknown
    /// No other transaction writes to the file before this one ends.
    private(set) var isLocked = false
    private var isRowChanged = false
    /// The last version of the history in the database, if it is known.
    private(set) var storedEnd: ServerVersion?
    private(set) var schema: RealmSchema?
    private var isSchemaChanged = false
    /// Nil: there is no such client file.
    private(set) var clients: [FileIdent: ClientFile?] = [:]
    private(set) var changedClients: Set<FileIdent> = []
    /// Versions that are not sent yet.
    private(set) var entries: [HistoryEntry] = []
    /// Bytes of the entries that are not sent yet, by origin.
    private(set) var uploadedBytes: [FileIdent: Int64] = [:]
    var reciprocals: [FileIdent: ReciprocalBuffer] = [:]
    var documents = DocumentBuffer()
    /// The last page of each reader: bodies of several clients share a transaction.
    private var pages: [FileIdent: HistoryPage] = [:]
    /// Rejected writes of clients, as they were read.
    private(set) var rejected: [FileIdent: RejectedRows] = [:]
    /// Nil: the history has no such version.
    private(set) var salts: [ServerVersion: Salt?] = [:]

    init(_ id: ServerFileID) {
        self.id = id
    }

    // MARK: Reading

    /// Remembers the row of the database, unless this transaction has changed it.
    ///
    /// One that is behind a termination starts over: at once for a transaction that writes. Others see
    /// its generation, which no client has.
    mutating func note(_ found: FileRow?, isLocked: Bool, _ salts: VersionSalts) {
        self.isLocked = self.isLocked || isLocked
        guard !isRowChanged else { return }
        guard var found else {
            row = .absent
            storedEnd = nil
            return
        }
        isRowChanged = found.catchUp(salts) && isLocked
        row = .present(found)
        storedEnd = found.file.currentVersion
    }

    mutating func note(_ client: ClientFile?, _ ident: FileIdent) {
        if !changedClients.contains(ident) { clients.updateValue(client, forKey: ident) }
    }

    mutating func note(_ salt: Salt?, of version: ServerVersion) {
        salts.updateValue(salt, forKey: version)
    }

    mutating func note(_ schema: RealmSchema) {
        if !isSchemaChanged { self.schema = schema }
    }

    mutating func note(_ page: HistoryPage) {
        pages[page.reader] = page
    }

    func page(after version: ServerVersion, readBy reader: FileIdent) -> HistoryPage? {
        pages[reader].flatMap { $0.begins(at: version, readBy: reader) ? $0 : nil }
    }

    mutating func note(_ rejected: RejectedRows, of client: FileIdent) {
        self.rejected[client] = rejected
    }

    /// Those of a client change.
    mutating func forgetRejected(of client: FileIdent) {
        rejected[client] = nil
    }

    /// Nil if the file does not exist, or was not read.
    var known: FileRow? {
        if case .present(let row) = row { row } else { nil }
    }

    // MARK: Writing

    /// Throws if the file does not exist: what belongs to it would never be removed.
    private mutating func changeRow(_ body: (inout FileRow) -> Void) throws(StoreError) {
        guard case .present(var row) = row else {
            throw StoreError(.failed, "server file \(id.rawValue) does not exist; connect again")
        }
        body(&row)
        self.row = .present(row)
        isRowChanged = true
    }

    mutating func update(_ file: ServerFile) throws(StoreError) {
        if file.currentVersion != known?.file.currentVersion { storedEnd = nil }
        try changeRow { $0.file = file }
    }

    mutating func takeIdent() throws(StoreError) -> FileIdent {
        var ident = UInt64(0)
        try changeRow { row in
            ident = row.nextIdent
            row.nextIdent &+= 1
        }
        return FileIdent(ident)
    }

    mutating func append(_ added: [HistoryEntry]) throws(StoreError) {
        guard let last = added.last else { return }
        try changeRow { row in
            row.file.currentVersion = last.version.version
            row.file.historySizeInBytes = last.cumulativeSizeInBytes
        }
        entries += added
        for entry in added where entry.origin != .none {
            uploadedBytes[entry.origin, default: 0] &+= Int64(entry.changeset.count)
        }
    }

    mutating func put(_ client: ClientFile) {
        clients.updateValue(client, forKey: client.ident)
        changedClients.insert(client.ident)
    }

    mutating func put(_ schema: RealmSchema) throws(StoreError) {
        // One more for each transaction is enough: no other one sees those in between.
        let isFirst = !isSchemaChanged
        try changeRow { row in
            if isFirst { row.schemaVersion &+= 1 }
        }
        self.schema = schema
        isSchemaChanged = true
    }

    // MARK: Sending

    /// The statements for all changes, which the database then has.
    mutating func takeSteps() -> [Step] {
        var steps = documents.takeSteps(in: id.rawValue)
        steps += HistoryRows.insertion(of: entries, in: id)
        if storedEnd != nil, let last = entries.last { storedEnd = last.version.version }
        entries = []
        for ident in reciprocals.keys.sorted(by: { $0.rawValue < $1.rawValue }) {
            steps += reciprocals[ident]?.takeSteps(for: ident, in: id) ?? []
        }
        for ident in changedClients.sorted(by: { $0.rawValue < $1.rawValue }) {
            guard case .some(.some(let client)) = clients[ident] else { continue }
            let bytes = uploadedBytes.removeValue(forKey: ident) ?? 0
            steps.append(ClientFileRows.putting(client, in: id, addingBytes: bytes))
        }
        changedClients = []
        for (ident, bytes) in uploadedBytes.sorted(by: { $0.key.rawValue < $1.key.rawValue }) {
            steps.append(ClientFileRows.adding(bytes, to: ident, in: id))
        }
        uploadedBytes = [:]
        if let row = known {
            if isSchemaChanged, let schema {
                steps.append(SchemaRows.putting(schema, version: row.schemaVersion, of: id))
            }
            if isRowChanged { steps.append(ServerFileRows.update(row)) }
        }
        isSchemaChanged = false
        isRowChanged = false
        pages = [:]
        rejected = [:]
        salts = [:]
        return steps
    }

    /// Forgets what was read, before a statement that changes the file's tables; all changes are sent.
    mutating func forget() {
        clients = [:]
        reciprocals = [:]
        documents.forget()
        pages = [:]
        rejected = [:]
        salts = [:]
        storedEnd = nil
    }
}
