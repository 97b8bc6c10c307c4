import Config
import LocalRealm
import SQLite
import SyncClient

/// Taking a realm's files away (features, L3).
extension RealmSupervisor {
    enum DeletionFailure: Error, Equatable {
        /// The server does not have everything that was written here.
        case pendingUploads
        /// What the file holds cannot be told, so it may be more than the server has.
        case notOpen
        case files(String)

        init(_ error: LocalRealmError) {
            switch error.kind {
            case .pendingUploads: self = .pendingUploads
            case .notARealm, .newerLayout, .corrupt, .schemaAltered: self = .notOpen
            default: self = .files(error.description)
            }
        }
    }

    /// Whether the server lacks anything that was written here; nil if the file is not open.
    func hasPendingUploads() async -> Bool? {
        guard case .running(let client) = stage else { return nil }
        return await client.hasPendingUploads()
    }

    /// Removes the files; the realm stays suspended until somebody resumes it, and starts empty then.
    ///
    /// - Returns: what was there and is gone.
    func delete(force: Bool) async throws(DeletionFailure) -> [String] {
        // Before anything is stopped for nothing.
        if !force, await hasPendingUploads() == true { throw .pendingUploads }
        let retirement = Retirement(of: configuration.path)
        return try await takeAway { () throws(LocalRealmError) in
            try retirement.remove(force: force)
        }
    }

    /// Keeps the realm among the recovered ones instead (interfaces, 9); it stays suspended in the same
    /// way.
    func setAside() async throws(DeletionFailure) {
        do throws(DataDirectory.Failure) {
            try DataDirectory.prepareRecovered(recoveredDirectory)
        } catch {
            throw .files(error.description)
        }
        let (path, copy) = (configuration.path, placeOfCopy)
        try await takeAway { () throws(LocalRealmError) in
            try RealmFile.setAside(path, to: copy)
        }
    }

    private func takeAway<Gone: Sendable>(
        _ work: @escaping @Sendable () throws(LocalRealmError) -> Gone
    ) async throws(DeletionFailure) -> Gone {
        let wasSuspended = suspension != nil
        await suspend()
        let executor = opener.surroundings.executor("deletion")
        let result = await whileClosed {
            await executor.perform { () -> Result<Gone, LocalRealmError> in
                do throws(LocalRealmError) {
                    return .success(try work())
                } catch {
                    return .failure(error)
                }
            }
        }
        do throws(LocalRealmError) {
            return try result.get()
        } catch {
            if !wasSuspended { await resume() }
            throw DeletionFailure(error)
        }
    }
}
