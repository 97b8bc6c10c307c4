import Logging
import PostgreSQL
import ServerStore
import Versions

/// Reads and writes the rows of server files and client files in a transaction, through a buffer.
///
/// Reads see the writes. A read that the buffer cannot answer alone sends the writes first, where that is
/// possible.
class FileTransaction: AccountTransaction {
    enum Access {
        case reading
        case writing
    }

    let access: Access
    let versionSalts: VersionSalts
    let schemas: SharedSchemas
    let logger: Logger
    var buffer = WriteBuffer()
    /// The sessions that the transaction is for, as the database had them at its begin.
    var sessions: [SessionGuard: SessionGuard.Stored?] = [:]
    /// Expected rows, until writes are sent.
    var usages: [UserID: ClientFileRows.ExpectedUsage] = [:]
    var historySizes: [UserID: Int64] = [:]

    init(
        _ runner: StatementRunner,
        _ access: Access,
        schemas: SharedSchemas,
        logger: Logger
    ) {
        self.access = access
        self.schemas = schemas
        self.logger = logger
        // None survives the connection: after a failover versions get other salts (7.1).
        versionSalts = VersionSalts(Salt(runner.connection.nonce))
        super.init(runner)
    }

    /// Throws `.changed` if the database went back behind what a session was told.
    func verify(_ session: SessionGuard?) throws(StoreError) {
        guard let session else { return }
        guard let stored = sessions[session] else {
            throw StoreError(.failed, "a session was not compared with the store; connect again")
        }
        try session.verify(stored)
    }

    /// The statements for all writes that are left, to be sent with COMMIT.
    func takeSteps() -> [Step] {
        runner.takeDeferred() + buffer.takeSteps()
    }

    /// Sends all writes before the next statement.
    func flush() throws(StoreError) {
        // Bodies that share a transaction must not send any.
        let steps = runner.mode == .alone ? buffer.takeSteps() : []
        usages = [:]
        historySizes = [:]
        try runner.write(steps)
    }

    /// Sends writes to the tables of a file, behind all earlier ones; reads see them.
    func write(_ steps: [Step], to file: ServerFileID) throws(StoreError) {
        try hold(file)
        try flush()
        try runner.write(steps)
        try buffer.change(file) { $0.forget() }
    }

    /// Runs a statement again until it changes less than a portion of 10 000 rows.
    func writeInPortions(_ step: Step, to file: ServerFileID) throws(StoreError) {
        try hold(file)
        try flush()
        while let rows = try runner.run([step]).first, rows.changes >= 10_000 {}
        try buffer.change(file) { $0.forget() }
    }
}
