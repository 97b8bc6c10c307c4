import Coordination
import FoundationEssentials
import LocalRealm
import Plugins
import SQLite

/// Copies and exports realm files for handlers, without blocking writers.
struct HandlerRealmFiles: RealmFiles {
    func copy(realmAt path: String, to destination: String) async throws(RealmFilesFailure) {
        try await onThread(destination) {
            let connection = try Connection(path: path, .init(mode: .readWrite))
            defer { connection.close() }
            // VACUUM reads one snapshot, regardless of concurrent writes.
            try connection.run("VACUUM INTO ?1", [.text(destination)])
        }
    }

    func exportUnsynced(
        realmAt path: String,
        to destination: String
    ) async throws(RealmFilesFailure) -> Int {
        try await onThread(destination) {
            let lines = try UnsyncedExport.lines(path: path)
            guard !lines.isEmpty else { return 0 }
            // Appears whole or not at all.
            try Data(lines.joined()).write(to: URL(filePath: destination), options: .atomic)
            return lines.count
        }
    }

    private func onThread<Value: Sendable>(
        _ destination: String,
        _ work: @escaping @Sendable () throws -> Value
    ) async throws(RealmFilesFailure) -> Value {
        try await BlockingCall.run(label: "handler") { () throws(RealmFilesFailure) in
            do {
                try FileManager.default.createDirectory(
                    at: URL(filePath: destination).deletingLastPathComponent(),
                    withIntermediateDirectories: true
                )
                return try work()
            } catch let error as SQLiteError {
                throw failure(destination, error.message)
            } catch let error as LocalRealmError {
                throw failure(destination, error.description)
            } catch {
                throw failure(destination, "\(error)")
            }
        }
    }

    private func failure(_ destination: String, _ reason: String) -> RealmFilesFailure {
        RealmFilesFailure(
            reason:
                "\(destination) cannot be written: \(reason); it must be below a directory that "
                + "the agent may write to (ReadWritePaths= in the unit)"
        )
    }
}
