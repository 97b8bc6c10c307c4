package import LocalRealm
import SQLite

extension RealmCopy {
    /// Copying takes as long as the file is large: it has a thread of its own.
    package func makeOnThread(
        from source: String,
        to destination: String
    ) async throws(LocalRealmError) -> Report {
        let executor = DatabaseExecutor(label: "copy")
        let result = await executor.perform { () -> Result<Report, LocalRealmError> in
            do throws(LocalRealmError) {
                return .success(try make(from: source, to: destination))
            } catch {
                return .failure(error)
            }
        }
        return try result.get()
    }
}
