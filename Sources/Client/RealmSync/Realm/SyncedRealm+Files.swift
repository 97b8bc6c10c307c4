import LocalRealm
import SQLite
import SyncClient

/// Deleting and archiving a realm's files (features, L3).
extension SyncedRealm {
    /// The reason why files were not deleted.
    public enum DeletionFailure: Error, Equatable {
        /// Local writes are not acknowledged yet.
        case pendingUploads
        /// The file was not read, so it may hold changes that the server lacks.
        case notOpen
        /// A file operation failed; the text is for people.
        case files(String)

        init(_ error: LocalRealmError) {
            switch error.kind {
            case .pendingUploads: self = .pendingUploads
            case .notARealm, .newerLayout, .corrupt, .schemaAltered: self = .notOpen
            default: self = .files(error.description)
            }
        }
    }

    /// Suspends the realm and deletes its files. After ``resume()`` the realm starts with an empty file.
    ///
    /// - Parameter force: deletes the files even if local writes are not acknowledged, and would be lost.
    /// - Returns: the paths of the deleted files.
    /// - Throws: the reason why nothing was deleted; the realm is then suspended only if it was before.
    @discardableResult
    public func delete(force: Bool = false) async throws(DeletionFailure) -> [String] {
        // Check before stopping the realm.
        if !force, await hasPendingUploads() == true { throw .pendingUploads }
        let retirement = RealmFileRemoval(of: context.options.path)
        return try await removeFiles { () throws(LocalRealmError) in
            try retirement.remove(force: force)
        }
    }

    /// Suspends the realm and moves its files to the recovered ones (interfaces, 9). After ``resume()`` the
    /// realm starts with an empty file.
    ///
    /// - Throws: the reason why the files were not moved; the realm is then suspended only if it was
    ///   before.
    public func setAside() async throws(DeletionFailure) {
        do throws(DataDirectory.Failure) {
            try DataDirectory.prepareRecovered(context.recoveredDirectory)
        } catch {
            throw .files(error.description)
        }
        let (path, copy) = (context.options.path, resets.pathOfCopy)
        try await removeFiles { () throws(LocalRealmError) in
            try RealmFile.setAside(path, to: copy)
        }
    }

    private func removeFiles<Gone: Sendable>(
        _ work: @escaping @Sendable () throws(LocalRealmError) -> Gone
    ) async throws(DeletionFailure) -> Gone {
        let wasSuspended = conditions.suspension != nil
        await suspend()
        let executor = context.opener.environment.executor("deletion")
        let result = await whileClosed {
            await executor.perform { Result { () throws(LocalRealmError) in try work() } }
        }
        do throws(LocalRealmError) {
            return try result.get()
        } catch {
            if !wasSuspended { await resume() }
            throw DeletionFailure(error)
        }
    }
}
