import LocalRealm
import SQLite
import SyncClient

/// Taking a realm's files away (features, L3).
extension SyncedRealm {
    /// Why files are still there.
    public enum DeletionFailure: Error, Equatable {
        /// The server does not have everything that was written here.
        case pendingUploads
        /// What the file holds is unknown, so it may be more than the server has.
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

    /// Removes the files; the realm stays suspended until someone resumes it, and starts empty then.
    ///
    /// - Parameter force: removes them even if the server does not have everything.
    /// - Returns: the paths of the files that were removed.
    @discardableResult
    public func delete(force: Bool = false) async throws(DeletionFailure) -> [String] {
        // Before anything is stopped for nothing.
        if !force, await hasPendingUploads() == true { throw .pendingUploads }
        let retirement = RealmFileRemoval(of: context.options.path)
        return try await takeAway { () throws(LocalRealmError) in
            try retirement.remove(force: force)
        }
    }

    /// Keeps the files among the recovered ones (interfaces, 9); the realm stays suspended as above.
    public func setAside() async throws(DeletionFailure) {
        do throws(DataDirectory.Failure) {
            try DataDirectory.prepareRecovered(context.recoveredDirectory)
        } catch {
            throw .files(error.description)
        }
        let (path, copy) = (context.options.path, resets.pathOfCopy)
        try await takeAway { () throws(LocalRealmError) in
            try RealmFile.setAside(path, to: copy)
        }
    }

    private func takeAway<Gone: Sendable>(
        _ work: @escaping @Sendable () throws(LocalRealmError) -> Gone
    ) async throws(DeletionFailure) -> Gone {
        let wasSuspended = gate.suspension != nil
        await suspend()
        let executor = context.opener.surroundings.executor("deletion")
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
