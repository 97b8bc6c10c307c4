import Config
import Glibc
import Platform
import SyncClient
import Versions

/// Taking a realm's files away (features, L3).
extension RealmSupervisor {
    enum DeletionFailure: Error, Equatable {
        /// The server does not have everything that was written here.
        case pendingUploads
        /// What the file holds cannot be told, so it may be more than the server has.
        case notOpen
        case files(String)
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
        if !force, opener.hasFile(configuration) {
            switch await hasPendingUploads() {
            case true: throw .pendingUploads
            case nil: throw .notOpen
            case false: break
            }
        }
        await suspend()
        let path = configuration.path
        let kept = try keepsCopy ? placeOfCopy() : nil
        let result = await whileClosed { () -> Result<[String], DeletionFailure> in
            var removed: [String] = []
            // The main file first: without it the others mean nothing.
            for suffix in ["", "-wal", "-shm"] {
                let file = path + suffix
                let isGone = kept.map { rename(file, $0 + suffix) } ?? unlink(file)
                if isGone == 0 {
                    removed.append(file)
                } else if errno != ENOENT {
                    return .failure(.files("\(file): \(String(cString: strerror(errno)))"))
                }
            }
            return .success(removed)
        }
        return try result.get()
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
