internal import SQLite
import Scopes
internal import Versions

/// A realm that is known from the record of its last rest (see `RestRecord`).
extension RealmFile {
    /// Nil unless the file has a record that holds.
    static func unread(
        _ configuration: LocalRealmConfiguration,
        _ lock: FileLock,
        _ records: RestRecords,
        _ clock: @escaping () -> Int64
    ) -> RealmFile? {
        guard let (row, traces) = records.read(machineID: configuration.machineID) else {
            return nil
        }
        let file = RealmFile(
            configuration: configuration,
            connection: Connection(closed: configuration.path, connectionOptions(configuration)),
            lock: lock,
            opening: RealmFileSetup(unread: row, configuration),
            isDurable: true,
            records: records,
            tracesWithoutWrites: traces,
            clock: clock
        )
        file.hasEmptyHistory = true
        file.rest.begin(unread: row)
        return file
    }

    /// Does what an opening does, at the first use of the file.
    func readRealm() throws {
        var random = SystemRandomNumberGenerator()
        let opening = try RealmFileSetup(configuration, connection, random: &random)
        // They may have moved since, in memory only.
        let progress = committed.state.progress
        committed = opening.draft
        committed.state.progress = progress
        options = opening.options
    }

    /// Nil if something waits in the file, or if its state is more than the row.
    func stateWithoutWork() throws -> RealmStateRow? {
        let state = committed.state
        guard hasEmptyHistory, state.fileIdent != .none, state.isFirstDownloadFinished,
            case .partition = state.owner.scope, state.owner == configuration.owner,
            committed.migration == nil, !committed.catalogue.hasAsymmetricClasses
        else { return nil }
        return try connection.transaction(.deferred) {
            guard try !Drain.isNeeded(on: connection, committed),
                try ResetRow(connection: connection).read() == nil
            else { return nil }
            return try RealmStateRow(from: connection)
        }
    }
}
