import Config
import LocalRealm
import Platform
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
    /// - Parameter keepsCopy: moves the files to the recovered ones instead (interfaces, 9).
    /// - Returns: what was there and is gone.
    func delete(
        force: Bool,
        keepsCopy: Bool = false
    ) async throws(DeletionFailure) -> [String] {
        // Before anything is stopped for nothing.
        if !force, await hasPendingUploads() == true { throw .pendingUploads }
        let wasSuspended = suspension != nil
        let place = try keepsCopy ? placeOfCopy() : nil
        await suspend()
        let retirement = Retirement(of: configuration.path)
        let executor = opener.surroundings.executor("deletion")
        let result = await whileClosed {
            await executor.perform { () -> Result<[String], LocalRealmError> in
                do throws(LocalRealmError) {
                    guard let place else { return .success(try retirement.remove(force: force)) }
                    return .success(try retirement.move(to: place))
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

    private func placeOfCopy() throws(DeletionFailure) -> String {
        do throws(DataDirectory.Failure) {
            try DataDirectory.prepareRecovered(recoveredDirectory)
        } catch {
            throw .files(error.description)
        }
        return RecoveredFile(
            in: recoveredDirectory,
            realm: configuration.name,
            at: WallTime(millisecondsSince1970: now()),
            suffix: ".sqlite"
        ).path
    }
}
